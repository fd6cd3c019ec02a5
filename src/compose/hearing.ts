/** Composition root: what hears callers. */
import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { chooseHearing } from '../speech/hearing/choose-hearing.ts';
import type { Hearing } from '../speech/hearing/hearing.ts';
import { moonshineEngine } from '../speech/stt/moonshine/moonshine-engine.ts';
import { transformersEngine } from '../speech/stt/transformers/transformers-engine.ts';
import { whisperEngine } from '../speech/stt/whisper/whisper-engine.ts';
import { smartTurnEngine } from '../speech/turn-detection/smart-turn-engine.ts';
import { sileroEngine } from '../speech/vad/silero/silero-engine.ts';

/**
 * Chooses by the settings and what is installed, and begins to load it in a thread and processes of its own.
 *
 * @returns whose `start` waits for what has begun; to be stopped by whoever cannot go on.
 */
export function beginHearing(from: { readonly config: Config; readonly log: Logger }): Hearing {
  const { config, log } = from;
  const hearing = chooseHearing({
    vad: config.VAD,
    stt: config.STT,
    turn: config.TURN,
    modelsDir: config.MODELS_DIR,
    clock: systemClock,
    logger: log,
    engines: {
      silero: sileroEngine,
      // Best first.
      recognizers: [whisperEngine, moonshineEngine, transformersEngine],
      smartTurn: smartTurnEngine,
    },
  });
  // Whoever waits for it is told.
  hearing.start().catch(() => undefined);
  return hearing;
}
