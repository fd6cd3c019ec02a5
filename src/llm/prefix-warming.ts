/** Reads prompts into models before their first answer. */

import { type Clock, TimeLimit } from '../lib/clock.ts';
import type { LanguageModelCounts } from '../lib/metrics/model-metrics.ts';
import type { LanguageModel, ModelRequest } from './language-model.ts';

/** Parallel prompts slow each other down, and most servers cache few of them. */
const WARMING_MAX = 2;

/** Answers in progress from which on no prefix is warmed: callers are waiting for the machine. */
const ANSWERING_MAX = 2;

/** Longer than any greeting. */
const WARM_MS_MAX = 20_000;

/** Reads prompts into models before their first answer, unless the machine is busy with answers. */
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
    using limit = new TimeLimit(this.#clock, WARM_MS_MAX, {
      signal: prefix.signal,
      reason: 'it takes too long',
    });
    this.#warming += 1;
    try {
      const isDone = await model.warm({ ...prefix, signal: limit.signal });
      if (isDone) this.#counts.prefixWarmed('done');
      return isDone;
    } catch {
      // The first answer will report a fault of the model.
      this.#counts.prefixWarmed(prefix.signal.aborted ? 'aborted' : 'failed');
      return false;
    } finally {
      this.#warming -= 1;
    }
  }
}
