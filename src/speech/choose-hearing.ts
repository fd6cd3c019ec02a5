/** Chooses what listens, from the operator's settings and the models that are installed. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { planEngine } from './engine-plan.ts';
import type { Hearing } from './hearing.ts';
import type { SpeechEngine } from './speech-engine.ts';
import { ThreadedHearing } from './threaded-hearing.ts';

/** The models that come with the repository. */
const TINY_DIR = fileURLToPath(new URL('../../models/tiny', import.meta.url));

export interface HearingSettings {
  readonly vad: 'auto' | 'silero' | 'energy';
  readonly stt: 'auto' | 'whisper' | 'none';
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The engines there are; only the composition root knows them. */
  readonly engines: { readonly silero: SpeechEngine; readonly whisper: SpeechEngine };
  /** Default: those of the repository. */
  readonly tinyDir?: string;
  /** Recogniser processes. Default: one for each core but one, which is left to the media. */
  readonly recognizers?: number;
}

/** Loads nothing yet: `start()` does, and `reports()` then tells what was chosen and why. */
export function chooseHearing(settings: HearingSettings): Hearing {
  const { vad, stt, modelsDir, engines, clock, logger } = settings;
  const tinyDir = settings.tinyDir ?? TINY_DIR;
  const recognizers = settings.recognizers ?? Math.max(1, availableParallelism() - 1);
  const dirs = { modelsDir, tinyDir };
  const plans = {
    detector: planEngine({
      job: 'vad',
      setting: vad,
      engine: engines.silero,
      without: 'energy',
      ...dirs,
    }),
    recognizer: planEngine({
      job: 'stt',
      setting: stt,
      engine: engines.whisper,
      without: 'none',
      ...dirs,
    }),
  };
  return new ThreadedHearing({ clock, logger, plans, recognizers });
}
