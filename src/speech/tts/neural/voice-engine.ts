/** What the engines of neural voices have in common: how they are found, opened and told of. */
import { availableParallelism } from 'node:os';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { SynthesizerEngine } from '../pool/choose-synthesizer.ts';
import type { NeuralVoice } from '../pool/synthesis-job-setup.ts';
import type { VoiceBook } from '../voices/voice-book.ts';
import { chooseNeuralVoice } from '../voices/voice-choice.ts';
import { VoiceSynthesizer } from './voice-synthesizer.ts';

/** What the composition root gives to every engine of neural voices. */
export interface VoiceEngineOptions {
  readonly modelsDir: string;
  readonly book: VoiceBook;
  /** URL of the module that makes a phonemizer, and what it is to be told. */
  readonly phonemizerModule: string;
  readonly phonemizer: object;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Children, each with its own copy of the models; as the machine has processors unless given. */
  readonly childCount?: number;
}

/** Two callers who are spoken to at once do not wait for each other where there is a processor for each. */
const CHILDREN_MAX = 2;

const THREADS_MAX = 4;

export function voiceEngine(
  options: VoiceEngineOptions,
  engine: {
    readonly name: 'kokoro' | 'piper';
    readonly modelModule: string;
    readonly find: (modelsDir: string) => readonly NeuralVoice[];
    /** What is to be put where. */
    readonly remedy: string;
  },
): SynthesizerEngine {
  const { modelsDir, book, clock, logger, phonemizer, phonemizerModule } = options;
  const { name, modelModule, find, remedy } = engine;
  const cores = availableParallelism();
  const childCount = options.childCount ?? Math.max(1, Math.min(CHILDREN_MAX, cores - 1));
  const threads = Math.max(1, Math.min(THREADS_MAX, Math.floor(cores / (childCount + 1))));
  return {
    name,
    isUniversal: false,
    probe: async () => {
      const voices = find(modelsDir);
      if (voices.length > 0) return { isUsable: true, version: `${name}, ${voices.length} voices` };
      return { isUsable: false, reason: `no ${name} voice in "${modelsDir}/tts"`, remedy };
    },
    open: () =>
      new VoiceSynthesizer({
        engine: name,
        order: { modelModule, phonemizerModule, phonemizer, voices: find(modelsDir), threads },
        voiceFor: (choice, voices) =>
          chooseNeuralVoice(choice, voices, { book: book[name].voices, names: book.names }),
        ...{ childCount, clock, logger },
      }),
  };
}
