/** Has a model read ahead what a call's requests begin with, unless it has better things to do. */
import type { Clock } from '../lib/clock.ts';
import type { LanguageModelCounts } from '../lib/metrics/language-model-metrics.ts';
import type { LanguageModel, ModelRequest } from './language-model.ts';

/** A prompt that is read beside others slows them all, and most servers keep few prompts at a time. */
const WARMING_MAX = 2;

/** From so many answers under way on, the machine is busy with callers who wait. */
const ANSWERING_MAX = 2;

/** No greeting is longer; then the caller has said something, or nobody is there. */
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
      // Whatever is wrong with the model, the first answer will tell.
      this.#counts.prefixWarmed(prefix.signal.aborted ? 'aborted' : 'failed');
      return false;
    } finally {
      cancel();
      this.#warming -= 1;
    }
  }
}
