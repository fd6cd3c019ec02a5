/** The ports inside a speaking child that speaks with a neural voice: from text to phonemes, from phonemes to sound. */
import type { Logger } from '../../../lib/logger.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import type { SpeechRequest, Synthesizer, VoiceChoice } from '../pool/synthesizer.ts';

/** What a model is asked to say. */
export interface VoiceRequest {
  /** International Phonetic Alphabet as espeak-ng writes it, with the punctuation of the text; one sentence at most. */
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
   * @returns for each chunk its words in the International Phonetic Alphabet, parted by blanks; empty where it has no sound.
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

/** Failures that are told of in the log, until the engine that a sentence was meant for has spoken one again. */
const NOTED_MAX = 20;

export class LayeredSynthesizer implements Synthesizer {
  readonly #layers: readonly Synthesizer[];
  readonly #mustStart: boolean;
  readonly #logger: Logger;
  #started: readonly Synthesizer[];
  #failures: readonly string[] = [];
  #noted = 0;

  /**
   * @param options.layers best first; the last one speaks every voice.
   * @param options.mustStart whether the first one was asked for by name, and nothing may stand in for it at start.
   */
  constructor(options: {
    readonly layers: readonly Synthesizer[];
    readonly mustStart: boolean;
    readonly logger: Logger;
  }) {
    this.#layers = options.layers;
    this.#started = options.layers;
    this.#mustStart = options.mustStart;
    this.#logger = options.logger;
  }

  /** @throws {SynthesisError} when the last layer cannot speak, or the first one that must. */
  async start(): Promise<void> {
    const results = await Promise.allSettled(this.#layers.map((layer) => layer.start()));
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : null));
    const needed = [reasons.at(-1), this.#mustStart ? reasons[0] : null];
    for (const reason of needed) {
      if (reason === null || reason === undefined) continue;
      await this.stop();
      throw reason;
    }
    this.#started = this.#layers.filter((_, index) => reasons[index] === null);
    this.#failures = reasons.filter((reason) => reason !== null).map(messageOf);
    for (const reason of this.#failures) {
      this.#logger.warn({ reason }, 'voice engine cannot be used; another one stands in');
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#layers.map((layer) => layer.stop()));
  }

  /** Goes on to the next layer while nothing has been heard. */
  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const layers = this.#speaking(request);
    for (const [index, layer] of layers.entries()) {
      let hasSpoken = false;
      try {
        for await (const pcm of layer.speak(request)) {
          hasSpoken = true;
          yield pcm;
        }
        if (index === 0) this.#noted = 0;
        return;
      } catch (error) {
        const isOver = hasSpoken || index === layers.length - 1 || request.signal?.aborted === true;
        if (isOver) throw error;
        this.#note(error);
      }
    }
  }

  /** The best layer that has started, and why better ones have not. */
  report(): EngineReport {
    const [best] = this.#started;
    const report = (best ?? this.#layers[0])?.report();
    if (report === undefined) throw new RangeError('Cannot report: there is no engine');
    if (this.#failures.length === 0) return report;
    const reason = [...this.#failures, report.reason].join('; ');
    const replacement = { engine: 'a neural voice', how: this.#failures.join('; ') };
    return { standIn: 'second_choice', replacement, ...report, reason, isFallback: true };
  }

  reportFor(choice: VoiceChoice): EngineReport {
    const [layer] = this.#speaking(choice);
    return layer === undefined || layer === this.#started[0] ? this.report() : layer.report();
  }

  #speaking(choice: VoiceChoice): readonly Synthesizer[] {
    return this.#started.filter((layer) => layer.canSpeak?.(choice) ?? true);
  }

  #note(error: unknown): void {
    this.#noted += 1;
    if (this.#noted <= NOTED_MAX) {
      this.#logger.warn({ reason: messageOf(error) }, 'voice failed; another engine stands in');
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
