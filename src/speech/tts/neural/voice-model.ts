/** Ports of a neural voice inside its child process, phonemizer and voice model, and the cache of open models. */
import type { Provider } from '../../../lib/onnx/onnx-providers.ts';
import { FULL_SCALE, LOUDNESS_DBFS } from '../pool/line-pcm.ts';
import type { SpokenSentence } from '../pool/synthesizer-pool.ts';

/** Phonemes for a model, and the voice that says them. */
export interface VoiceRequest {
  /** Phonemes as `spell` gave them, with the punctuation of the text; one sentence at most. */
  readonly phonemes: string;
  /** Which of the model's voices; empty where it has one. */
  readonly voice: string;
}

export interface VoiceAudio {
  /** Mono, -1..1, at the model's rate. */
  readonly samples: Float32Array;
  /** End of each code point of the phonemes, as a share of the samples; undefined where the model does not tell. */
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

/** Exports of an engine's module. */
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

/** Exports of the module that makes a phonemizer. */
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
  /** Name for messages. */
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
  /** URL of the module that makes a phonemizer, and its settings. */
  readonly phonemizerModule: string;
  readonly phonemizer: object;
  /** Each voice speaks a test word before the child is ready; voices that fail are reported and never used. */
  readonly voices: readonly NeuralVoice[];
  readonly threads: number;
  /** ONNX Runtime's execution providers, best first; default: the CPU. */
  readonly providers?: readonly Provider[];
}

/** A Piper voice holds about 100 MB, a Kokoro model 400 MB with all its voices. */
const MODELS_MAX = 4;

export class ModelCache {
  readonly #load: (path: string) => Promise<VoiceModel>;
  /** Models by path, the one used last at the end. */
  readonly #models = new Map<string, Promise<VoiceModel>>();
  readonly #levels = new Map<string, VoiceLevel>();

  constructor(load: (path: string) => Promise<VoiceModel>) {
    this.#load = load;
  }

  /** Opens a model unless it is open; beyond the limit, the least recently used one is closed. @throws errors of loading. */
  open(path: string): Promise<VoiceModel> {
    const model = this.#models.get(path) ?? this.#load(path);
    this.#models.delete(path);
    this.#models.set(path, model);
    // A file that was put right is tried again.
    model.catch(() => this.#models.delete(path));
    const [oldest] = this.#models;
    if (oldest !== undefined && this.#models.size > MODELS_MAX) {
      this.#models.delete(oldest[0]);
      // Inference in progress ends before the model is closed.
      oldest[1].then((unused) => unused.close()).catch(() => undefined);
    }
    return model;
  }

  /** How loud a voice is, learnt from all that it said here. */
  levelOf(voice: string): VoiceLevel {
    const level = this.#levels.get(voice) ?? new VoiceLevel();
    this.#levels.set(voice, level);
    return level;
  }

  /** Closes all models. Call it when no sentence is being spoken. */
  async close(): Promise<void> {
    const open = [...this.#models.values()];
    this.#models.clear();
    await Promise.allSettled(open.map(async (model) => (await model).close()));
  }
}

/** 20 ms at the line's rate. */
const FRAME_SAMPLES = 160;

/** Frames that are this much below the loudest are pauses. */
const RANGE_DB = 25;

/** A voice's level is known well after half a minute; later frames hardly change its gain. */
const FRAMES_MAX = 1500;

const GAIN_DB_MAX = 30;

/** Learns one voice's loudness from all that it has said. */
export class VoiceLevel {
  #power = 0;
  #frames = 0;

  /**
   * Weighs the next sentence.
   *
   * @param samples 8 kHz, of a 16-bit scale.
   * @returns the gain for it, in decibels.
   */
  weigh(samples: Float32Array): number {
    const powers = voicedPowers(samples);
    if (powers.length > 0) {
      const mean = powers.reduce((sum, power) => sum + power, 0) / powers.length;
      const known = Math.min(this.#frames, FRAMES_MAX);
      this.#power = (this.#power * known + mean * powers.length) / (known + powers.length);
      this.#frames = known + powers.length;
    }
    if (this.#power === 0) return 0;
    const levelDbfs = 10 * Math.log10(this.#power / FULL_SCALE ** 2);
    return Math.max(-GAIN_DB_MAX, Math.min(GAIN_DB_MAX, LOUDNESS_DBFS - levelDbfs));
  }
}

function voicedPowers(samples: Float32Array): readonly number[] {
  const powers = Array.from({ length: Math.floor(samples.length / FRAME_SAMPLES) }, (_, n) => {
    const frame = samples.subarray(n * FRAME_SAMPLES, (n + 1) * FRAME_SAMPLES);
    return frame.reduce((sum, sample) => sum + sample * sample, 0) / FRAME_SAMPLES;
  });
  const loudest = powers.reduce((most, power) => Math.max(most, power), 0);
  return powers.filter((power) => power > 0 && power >= loudest * 10 ** (-RANGE_DB / 10));
}
