/** Several engines as one: each voice is spoken by the best one that has its language and works. */
import type { Logger } from '../../../lib/logger.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import type { SpeechRequest, Synthesizer, VoiceChoice } from '../pool/synthesizer.ts';

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
