/** Chooses what listens, from the operator's settings and the models that are installed. */
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { planEngine } from '../models/engine-plan.ts';
import type { SpeechEngine } from '../models/speech-engine.ts';
import { machineShare } from '../stt/pool/child-keeper.ts';
import type { Hearing } from './hearing.ts';
import { ThreadedHearing } from './threaded-hearing.ts';

/** The models that come with the repository. */
const TINY_DIR = fileURLToPath(new URL('../../../models/tiny', import.meta.url));

export interface HearingSettings {
  readonly vad: 'auto' | 'silero' | 'energy';
  readonly stt: 'auto' | 'whisper' | 'moonshine' | 'transformers' | 'none';
  /** Default: `off`. */
  readonly turn?: 'auto' | 'smart-turn' | 'off';
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The engines there are; only the composition root knows them. */
  readonly engines: {
    readonly silero: SpeechEngine;
    /** Those that recognise speech, best first; one at least. */
    readonly recognizers: readonly [SpeechEngine, ...SpeechEngine[]];
    readonly smartTurn?: SpeechEngine;
  };
  /** Default: those of the repository. */
  readonly tinyDir?: string;
  /** Recogniser processes. Default: as the machine has cores and memory. */
  readonly recognizers?: number;
}

/** Loads nothing yet: `start()` does, and `reports()` then tells what was chosen and why. */
export function chooseHearing(settings: HearingSettings): Hearing {
  const { vad, stt, engines, clock, logger } = settings;
  const tinyDir = settings.tinyDir ?? TINY_DIR;
  // Written in one way, so that our own tiny models are known for what they are.
  const isTinyDir = resolve(settings.modelsDir) === resolve(tinyDir);
  const modelsDir = isTinyDir ? tinyDir : settings.modelsDir;
  const [recognizer, ...others] = engines.recognizers;
  const share = machineShare({ cores: availableParallelism(), memoryBytes: memoryBytes() });
  const recognizers = settings.recognizers ?? share.processes;
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
      engine: recognizer,
      others,
      threads: share.threads,
      without: 'none',
      ...dirs,
    }),
    turn:
      engines.smartTurn &&
      planEngine({
        job: 'turn',
        setting: settings.turn ?? 'off',
        engine: engines.smartTurn,
        without: 'off',
        // Without a model the words alone decide, and no worse than with so small a one.
        isNeverTiny: true,
        ...dirs,
      }),
  };
  return new ThreadedHearing({ clock, logger, plans, recognizers });
}

/** Of the machine, or, where a container sets this process a limit, that. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
