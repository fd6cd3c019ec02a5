/** Chooses the VAD, the recogniser and the turn model from the settings and the installed models. */
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Provider } from '../../lib/onnx/onnx-providers.ts';
import { planEngine } from '../models/engine-plan.ts';
import type { SpeechEngine } from '../models/model-files.ts';
import type { Hearing } from './hearing.ts';
import { type RecognitionServersPlan, ThreadedHearing } from './threaded-hearing.ts';

/** The models that come with the repository. */
export const TINY_DIR = fileURLToPath(new URL('../../../models/tiny', import.meta.url));

export interface HearingSettings {
  readonly vad: 'auto' | 'silero' | 'energy';
  readonly stt: 'auto' | 'whisper' | 'moonshine' | 'transformers' | 'none';
  /** Recognition servers; the recogniser of `stt` takes over from them, and the tiny one does not. */
  readonly servers?: RecognitionServersPlan | undefined;
  /** Default: `off`. */
  readonly turn?: 'auto' | 'smart-turn' | 'off';
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The available engines, from the composition root. */
  readonly engines: {
    readonly silero: SpeechEngine;
    /** Recognisers, best first; at least one. */
    readonly recognizers: readonly [SpeechEngine, ...SpeechEngine[]];
    readonly smartTurn?: SpeechEngine;
  };
  /** Default: the tiny models of the repository. */
  readonly tinyDir?: string;
  /** ONNX Runtime's execution providers for the recogniser, best first; default: the CPU. */
  readonly providers?: readonly Provider[];
  /** Number of recogniser processes. Default: by the machine's cores and memory. */
  readonly recognizers?: number;
}

/** Plans the engines. `start()` loads them; `reports()` then gives the choice and its reasons. */
export function chooseHearing(settings: HearingSettings): Hearing {
  const { vad, stt, engines, clock, logger } = settings;
  const tinyDir = settings.tinyDir ?? TINY_DIR;
  // One spelling of the path, so that the repository's tiny models are recognised as such.
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
      providers: settings.providers,
      without: 'none',
      // It is sure of wrong words: a caller who is asked again fares better.
      isNeverTiny: settings.servers !== undefined,
      ...dirs,
    }),
    turn:
      engines.smartTurn &&
      planEngine({
        job: 'turn',
        setting: settings.turn ?? 'off',
        engine: engines.smartTurn,
        without: 'off',
        // A tiny turn model is no better than none: then the words alone decide.
        isNeverTiny: true,
        ...dirs,
      }),
    servers: settings.servers,
  };
  return new ThreadedHearing({ clock, logger, plans, recognizers });
}

/** Memory of the machine, or the limit of its container. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** More processes would each hold the model for little use. */
const PROCESSES_MAX = 8;

/** Memory of one process with a middle-sized model. */
const BYTES_PER_PROCESS = 2 ** 30;

/**
 * Number of recogniser processes and threads for a machine: a process for each core, so that no request waits while a
 * core is idle; more threads only where cores are left over, because two calls at once run faster in two processes.
 */
export function machineShare(machine: { readonly cores: number; readonly memoryBytes: number }): {
  readonly processes: number;
  readonly threads: number;
} {
  const { cores, memoryBytes } = machine;
  const fitting = Math.floor(memoryBytes / BYTES_PER_PROCESS);
  const processes = Math.max(1, Math.min(cores, PROCESSES_MAX, fitting));
  return { processes, threads: Math.max(1, Math.floor(cores / processes)) };
}
