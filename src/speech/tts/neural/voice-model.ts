/** Ports of a neural voice inside its child process: phonemizer (text to phonemes) and voice model (phonemes to audio). */
import type { Provider } from '../../../lib/onnx/onnx-providers.ts';
import type { SpokenSentence } from '../pool/synthesizer-pool.ts';

/** What a model is asked to say. */
export interface VoiceRequest {
  /** As `spell` gave them, with the punctuation of the text; one sentence at most. */
  readonly phonemes: string;
  /** Which of the model's voices; empty where it has one. */
  readonly voice: string;
}

export interface VoiceAudio {
  /** Mono, -1..1, at the model's rate. */
  readonly samples: Float32Array;
  /**
   * For each code point of the phonemes, the share of the samples after which it has been said; undefined where the
   * model does not tell.
   */
  readonly ends?: readonly number[];
}

/** One loaded model. */
export interface VoiceModel {
  readonly rateHz: number;
  /** More phonemes than that must not be asked for at once. */
  readonly phonemesMax: number;

  /**
   * Writes a chunk's phonemes in the symbols that the model was trained on.
   *
   * @param phonemes as the phonemizer gives them, ties included.
   * @param voice which of the model's voices.
   */
  spell(phonemes: string, voice: string): string;

  /**
   * Says it, in one run that cannot be stopped.
   *
   * @throws {Error} when the graph fails, or its output is no sound.
   */
  say(request: VoiceRequest): Promise<VoiceAudio>;

  close(): Promise<void>;
}

/** What the module of an engine exports. */
export interface VoiceModelModule {
  /** @throws {ModelFileError} naming the file, what is wrong with it and the remedy. */
  openVoiceModel(path: string, threads: number): Promise<VoiceModel>;
}

/** Writes down how words are said. */
export interface Phonemizer {
  /**
   * @param chunks words without punctuation, none of them empty.
   * @param voice espeak-ng's name of the language, such as `en-us`.
   * @returns for each chunk its words in the International Phonetic Alphabet, parted by blanks, affricates and diphthongs tied by
   * `^` (`t^ʃ`, `a^ɪ`); empty where it has no sound.
   * @throws {Error} when espeak-ng does not answer.
   */
  phonemes(chunks: readonly string[], voice: string): Promise<readonly string[]>;

  /** Ends its processes. Safe to call twice. */
  stop(): Promise<void>;
}

/** What the module that makes a phonemizer exports. */
export interface PhonemizerModule {
  /** @param choice as the composition root has put it into the order. */
  openPhonemizer(choice: object): Phonemizer;
}

/**
 * @param perPoint how long each code point of the phonemes takes, in any unit.
 * @param all the same unit for every symbol of the run: those at its start come before the first code point.
 * @returns for each code point, the share of the whole after which it has been said.
 */
export function endsOfDurations(
  perPoint: readonly number[],
  all: readonly number[],
): readonly number[] {
  const total = all.reduce((sum, duration) => sum + duration, 0);
  if (!(total > 0)) return perPoint.map((_, index) => (index + 1) / perPoint.length);
  let end = all[0] ?? 0;
  return perPoint.map((duration) => {
    end += duration;
    return Math.min(1, end / total);
  });
}

/** An installed voice. */
export interface NeuralVoice {
  /** For messages. */
  readonly name: string;
  /** Path of the model, for its module. */
  readonly model: string;
  /** Which of the model's voices; empty where it has one. */
  readonly speaker: string;
  /** espeak-ng's name of the language that the words are read in. */
  readonly reads: string;
  /** BCP 47. */
  readonly locale: string;
  readonly gender?: 'female' | 'male';
}

export interface NeuralSentence extends SpokenSentence {
  readonly voice: NeuralVoice;
}

/** Argument of the child process, as JSON. */
export interface SynthesisJobSetup {
  /** URL of the module that opens models. */
  readonly modelModule: string;
  /** URL of the module that makes a phonemizer, and what it is to be told. */
  readonly phonemizerModule: string;
  readonly phonemizer: object;
  /** Each voice speaks a test word before the child is ready; voices that fail are reported and never used. */
  readonly voices: readonly NeuralVoice[];
  readonly threads: number;
  /** ONNX Runtime's execution providers, best first; default: the CPU. */
  readonly providers?: readonly Provider[];
}
