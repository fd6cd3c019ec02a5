/** Time limits for a model's answer, and the errors and requests that model servers share. */
import type { Clock } from '../lib/clock.ts';
import type { LanguageModelCounts } from '../lib/metrics/model-metrics.ts';
import { type LanguageModel, LanguageModelError, type ModelRequest } from './language-model.ts';

export interface AnswerLimits {
  /** Until the first piece of an answer; a model that is still being loaded needs some seconds. */
  readonly firstMs: number;
  /** Between two pieces. */
  readonly nextMs: number;
}

export const DEFAULT_ANSWER_LIMITS: AnswerLimits = { firstMs: 10_000, nextMs: 10_000 };

export class AnswerWatch {
  readonly #clock: Clock;
  readonly #limits: AnswerLimits;
  readonly #modelName: string;
  readonly #end = new AbortController();
  /** For the request: aborted by the caller, by a limit, and by `close`. */
  readonly signal: AbortSignal;
  #cancel: () => void = () => undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly limits: AnswerLimits;
    readonly modelName: string;
    readonly signal: AbortSignal;
  }) {
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#modelName = options.modelName;
    this.signal = AbortSignal.any([options.signal, this.#end.signal]);
    this.#wait(options.limits.firstMs);
  }

  /**
   * A piece of the answer has come. What the connection still held when it was closed is not passed on.
   *
   * @throws the signal's reason when aborted.
   */
  heard(): void {
    this.signal.throwIfAborted();
    this.#wait(this.#limits.nextMs);
  }

  /** Ends the wait, and the request if it is still open. Safe to call twice. */
  close(): void {
    this.#cancel();
    this.#end.abort(new Error('the answer is complete'));
  }

  /** What to throw for an error of the request: the limit's own error, if that is what ended it. */
  explain(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    if (error instanceof LanguageModelError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    return new LanguageModelError(`Cannot get an answer from "${this.#modelName}": ${reason}`, {
      cause: error,
    });
  }

  #wait(delayMs: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(delayMs, () => {
      const reason = `nothing came for ${delayMs} ms`;
      const message = `Cannot get an answer from "${this.#modelName}": ${reason}`;
      this.#end.abort(new LanguageModelError(message));
    });
  }
}

/** Parallel prompts slow each other down, and most servers cache few of them. */
const WARMING_MAX = 2;

/** From so many answers under way on, the machine is busy with callers who wait. */
const ANSWERING_MAX = 2;

/** Longer than any greeting. */
const WARM_MS_MAX = 20_000;

export class PrefixWarming {
  readonly #clock: Clock;
  readonly #counts: LanguageModelCounts;
  #warming = 0;
  #answering = 0;

  constructor(options: { readonly clock: Clock; readonly counts: LanguageModelCounts }) {
    this.#clock = options.clock;
    this.#counts = options.counts;
  }

  /** An answer begins. @returns to be called once, when it is over. */
  answerBegins(): () => void {
    this.#answering += 1;
    return () => {
      this.#answering -= 1;
    };
  }

  /** Never rejects: an answer comes without it as well, only later. @returns whether the model has read it. */
  async warm(model: LanguageModel, prefix: ModelRequest): Promise<boolean> {
    if (model.warm === undefined || prefix.signal.aborted) return false;
    if (this.#warming >= WARMING_MAX || this.#answering >= ANSWERING_MAX) {
      this.#counts.prefixWarmed('skipped');
      return false;
    }
    const late = new AbortController();
    const cancel = this.#clock.after(WARM_MS_MAX, () => late.abort(new Error('it takes too long')));
    this.#warming += 1;
    try {
      const signal = AbortSignal.any([prefix.signal, late.signal]);
      const isDone = await model.warm({ ...prefix, signal });
      if (isDone) this.#counts.prefixWarmed('done');
      return isDone;
    } catch {
      // The first answer will report a fault of the model.
      this.#counts.prefixWarmed(prefix.signal.aborted ? 'aborted' : 'failed');
      return false;
    } finally {
      cancel();
      this.#warming -= 1;
    }
  }
}
