/** Makes the engine of a neural voice model: finds its voices, opens it in child processes, reports on it. */

import { availableParallelism } from 'node:os';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Provider } from '../../../lib/onnx/onnx-providers.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import type { SynthesizerEngine } from '../pool/choose-synthesizer.ts';
import { withoutSpeltScripts } from '../pool/spelt-scripts.ts';
import {
  pauseAfterMs,
  type SpeechRequest,
  SynthesisError,
  type Synthesizer,
  spokenText,
  type VoiceChoice,
} from '../pool/synthesizer.ts';
import type { ModelFailure } from '../pool/synthesizer-pool.ts';
import { SynthesizerPool } from '../pool/synthesizer-pool.ts';
import type { VoiceBook } from '../voices/voice-book.ts';
import { chooseNeuralVoice } from '../voices/voice-ids.ts';
import type { NeuralSentence, NeuralVoice, SynthesisJobSetup } from './voice-model.ts';

/** Options of every neural engine, from the registry. */
export interface VoiceEngineOptions {
  readonly modelsDir: string;
  readonly book: VoiceBook;
  /** URL of the phonemizer's module, and its options. */
  readonly phonemizerModule: string;
  readonly phonemizer: object;
  readonly clock: Clock;
  readonly logger: Logger;
  /** ONNX Runtime's execution providers, best first; default: the CPU. */
  readonly providers?: readonly Provider[];
  /** Child processes, each with its own copy of the models. Default: by the machine's cores. */
  readonly childCount?: number;
}

/** Two replies at once do not wait for each other where there is a core for each. */
const CHILDREN_MAX = 2;

const THREADS_MAX = 4;

/** Makes an engine from its name, its voices and the module that opens its models. */
export function voiceEngine(
  options: VoiceEngineOptions,
  engine: {
    /** Name as in the setting `TTS` and in `models/voices.json`. */
    readonly name: string;
    readonly modelModule: string;
    /** Voices in the models folder. */
    readonly find: (modelsDir: string) => readonly NeuralVoice[];
    /** How to install a voice. */
    readonly remedy: string;
  },
): SynthesizerEngine {
  const { modelsDir, book, clock, logger, phonemizer, phonemizerModule, providers } = options;
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
        order: {
          ...{ modelModule, phonemizerModule, phonemizer, voices: find(modelsDir), threads },
          ...(providers !== undefined && { providers }),
        },
        voiceFor: (choice, voices) =>
          chooseNeuralVoice(choice, voices, {
            book: book.neural[name]?.voices ?? {},
            names: book.names,
          }),
        ...{ childCount, clock, logger },
      }),
  };
}

const CHILD_FILE = new URL('../pool/voice-child.ts', import.meta.url);

/** Large models take seconds from a cold disk, and each says a word before it is used. */
const START_TIMEOUT_MS = 120_000;

/** A sentence of 20 s at a third of the pace of speech. */
const ANSWER_TIMEOUT_MS = 60_000;

/** Sentences asked for and not yet spoken, over all calls. More are refused. */
const SENTENCES_MAX = 100;

interface VoiceSynthesizerOptions {
  /** Name as in the setting `TTS`. */
  readonly engine: string;
  readonly order: SynthesisJobSetup;
  /** Which of the order's voices speaks; undefined where none has the language. */
  readonly voiceFor: (
    choice: VoiceChoice,
    voices: readonly NeuralVoice[],
  ) => NeuralVoice | undefined;
  readonly childCount: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly answerTimeoutMs?: number;
}

/** Speaks with neural voices, in child processes. */
class VoiceSynthesizer implements Synthesizer {
  readonly #options: VoiceSynthesizerOptions;
  readonly #pool: SynthesizerPool<NeuralSentence>;
  #failures: readonly ModelFailure[] = [];

  constructor(options: VoiceSynthesizerOptions) {
    this.#options = options;
    const { engine, order, clock, logger, answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
    const child = { file: CHILD_FILE, order, engine, startTimeoutMs: START_TIMEOUT_MS };
    this.#pool = new SynthesizerPool({
      ...{ child, clock, logger, answerTimeoutMs },
      ...{ count: options.childCount, sentencesMax: SENTENCES_MAX },
      onFailures: (failures) => this.#note(failures),
    });
  }

  /** @throws {SynthesisError} naming the models and what is wrong with them, when none can be used. */
  start(): Promise<void> {
    return this.#pool.start();
  }

  stop(): Promise<void> {
    return this.#pool.stop();
  }

  canSpeak(choice: VoiceChoice): boolean {
    return this.#voiceFor(choice) !== undefined;
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { signal, onWords } = request;
    signal?.throwIfAborted();
    const readable = spokenText(request.text);
    if (readable === '') return;
    const voice = this.#voiceFor(request);
    if (voice === undefined) {
      throw new SynthesisError(`Cannot speak with "${request.voice}": no voice has its language`);
    }
    const text = withoutSpeltScripts(readable, voice.reads);
    if (text === '') return;
    const sentence = { text, voice, pauseAfterMs: pauseAfterMs(text) };
    // Word ends are useless when their number differs from that of the words.
    const isWhole = wordCount(text) === wordCount(request.text);
    yield* this.#pool.speak(sentence, { signal, onWords: isWhole ? onWords : undefined });
  }

  report(): EngineReport {
    const { engine } = this.#options;
    const names = this.#usable().map(({ name }) => name);
    const shown = names.length > 3 ? [...names.slice(0, 3), `${names.length - 3} more`] : names;
    const failures = this.#failures.map(({ reason }) => reason);
    const reason = [...failures, `installed: ${shown.join(', ')}`].join('; ');
    const isFallback = failures.length > 0;
    const report = { job: 'tts', engine, reason, isFallback } as const;
    if (!isFallback) return report;
    const replacement = { engine, how: failures.join('; ') };
    return { ...report, standIn: 'second_choice', replacement };
  }

  #voiceFor(choice: VoiceChoice): NeuralVoice | undefined {
    return this.#options.voiceFor(choice, this.#usable());
  }

  #usable(): readonly NeuralVoice[] {
    const { voices } = this.#options.order;
    const failed = this.#failures.map(({ model }) => model);
    return voices.filter(({ model }) => !failed.includes(model));
  }

  #note(failures: readonly ModelFailure[]): void {
    if (failures.length > 0) {
      this.#options.logger.warn({ failures }, 'voices that cannot be used');
    }
    this.#failures = failures;
  }
}

function wordCount(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}
