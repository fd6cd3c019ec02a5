/** A language model whose first words are timed. */
import type { Clock } from '../lib/clock.ts';
import type { ModelTimes } from '../lib/metrics/model-metrics.ts';
import type { LanguageModel, ModelEvent, ModelRequest } from './language-model.ts';

/** Passes everything on to another model, and reports how long its first event took. */
export class MeasuredModel implements LanguageModel {
  readonly #model: LanguageModel;
  readonly #times: ModelTimes;
  readonly #clock: Clock;

  constructor(options: {
    readonly model: LanguageModel;
    readonly times: ModelTimes;
    readonly clock: Clock;
  }) {
    this.#model = options.model;
    this.#times = options.times;
    this.#clock = options.clock;
  }

  get name(): string {
    return this.#model.name;
  }

  get ignoresPrompts(): boolean | undefined {
    return this.#model.ignoresPrompts;
  }

  get contextTokens(): number | undefined {
    return this.#model.contextTokens;
  }

  /** What was aborted before its first event counts as neither answered nor failed. */
  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const startMs = this.#clock.nowMs();
    let hasAnswered = false;
    try {
      for await (const event of this.#model.stream(request)) {
        if (!hasAnswered) this.#times.answered('llm', this.name, this.#clock.nowMs() - startMs);
        hasAnswered = true;
        yield event;
      }
    } catch (error) {
      if (!request.signal.aborted) this.#times.failed('llm', this.name);
      throw error;
    }
  }

  /** Not timed: nobody waits for it. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    return (await this.#model.warm?.(prefix)) ?? false;
  }

  check(): Promise<void> {
    return this.#model.check();
  }

  async stop(): Promise<void> {
    await this.#model.stop?.();
  }
}
