/** Fallback chain of language models in order of preference. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { type LanguageModelCounts, UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from './language-model.ts';

/** How long a model that failed is left alone. */
export const SKIP_MS = 30_000;

/** Which model answers and why that one; shaped like the reports of speech engines. */
export interface LanguageModelReport {
  readonly job: 'llm';
  readonly engine: string;
  readonly reason: string;
  readonly isFallback: boolean;
  /** How it falls short; absent for the model that was asked for. */
  readonly standIn?: 'rule_book' | 'second_choice';
  /** The best model of the order, while that cannot be used. */
  readonly replacement?: { readonly engine: string; readonly how: string };
}

interface Candidate {
  readonly model: LanguageModel;
  failure: { readonly atMs: number; readonly message: string } | undefined;
}

export class FallbackModel implements LanguageModel {
  readonly #candidates: readonly Candidate[];
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #counts: LanguageModelCounts;
  readonly #warming: PrefixWarming;
  readonly #mayWarm: boolean;
  /** Before it, the start itself tells which model answers and why. */
  #isChecked = false;

  /** @param options.models the best first; at least one. */
  constructor(options: {
    readonly models: readonly LanguageModel[];
    readonly clock: Clock;
    readonly log: Logger;
    readonly counts?: LanguageModelCounts;
    /** Whether prompts are read ahead; true unless given. */
    readonly mayWarm?: boolean;
  }) {
    if (options.models.length === 0) throw new RangeError('Cannot choose a model out of none');
    this.#candidates = options.models.map((model) => ({ model, failure: undefined }));
    this.#clock = options.clock;
    this.#log = options.log;
    this.#counts = options.counts ?? UNCOUNTED;
    this.#mayWarm = options.mayWarm ?? true;
    this.#warming = new PrefixWarming({ clock: this.#clock, counts: this.#counts });
  }

  /** Of the model that would be asked now. */
  get name(): string {
    return this.#order()[0]?.model.name ?? '';
  }

  /** Of the model that would be asked now. */
  get ignoresPrompts(): boolean {
    return this.#order()[0]?.model.ignoresPrompts === true;
  }

  /** Of the smallest: each of them may be asked for the next answer. */
  get contextTokens(): number | undefined {
    const windows = this.#candidates.flatMap(({ model }) => model.contextTokens ?? []);
    return windows.length === 0 ? undefined : Math.min(...windows);
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    request.signal.throwIfAborted();
    const answerEnds = this.#warming.answerBegins();
    try {
      yield* this.#answer(request);
    } finally {
      answerEnds();
    }
  }

  /** Asks the one that would answer now, if it is not busy. Never rejects. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    const model = this.#order()[0]?.model;
    return model === undefined || !this.#mayWarm ? false : await this.#warming.warm(model, prefix);
  }

  async *#answer(request: ModelRequest): AsyncIterable<ModelEvent> {
    let lastError: unknown;
    const order = this.#order();
    for (const candidate of order) {
      let hasAnswered = false;
      try {
        for await (const event of candidate.model.stream(request)) {
          hasAnswered = true;
          yield event;
        }
        this.#recover(candidate);
        return;
      } catch (error) {
        request.signal.throwIfAborted();
        this.#fail(candidate, error);
        // Half an answer cannot be withdrawn, and another model would start over.
        if (hasAnswered) throw error;
        if (candidate !== order.at(-1)) this.#counts.fellBack(candidate.model.name);
        lastError = error;
      }
    }
    throw lastError;
  }

  /** Asks every model; passes when one of them would answer. */
  async check(): Promise<void> {
    await Promise.all(this.#candidates.map((candidate) => this.#check(candidate)));
    this.#isChecked = true;
    if (this.#candidates.every(({ failure }) => failure !== undefined)) {
      const states = this.#candidates.map(({ failure }) => failure?.message).join('; ');
      throw new LanguageModelError(`Cannot use any language model: ${states}`);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#candidates.map(({ model }) => model.stop?.()));
  }

  report(): LanguageModelReport {
    const current = this.#order()[0];
    const better = this.#candidates.slice(0, current ? this.#candidates.indexOf(current) : 0);
    const isFallback = better.length > 0;
    const standIn = this.ignoresPrompts ? 'rule_book' : 'second_choice';
    return {
      job: 'llm',
      engine: current?.model.name ?? '',
      reason: reasonFor(better, current),
      isFallback,
      ...((isFallback || standIn === 'rule_book') && { standIn }),
      ...replacementOf(better),
    };
  }

  async #check(candidate: Candidate): Promise<void> {
    try {
      await candidate.model.check();
      this.#recover(candidate);
    } catch (error) {
      this.#fail(candidate, error);
    }
  }

  /** Those that did not fail lately; all of them when every one did. */
  #order(): readonly Candidate[] {
    const nowMs = this.#clock.nowMs();
    const rested = this.#candidates.filter(
      ({ failure }) => failure === undefined || nowMs - failure.atMs >= SKIP_MS,
    );
    return rested.length > 0 ? rested : this.#candidates;
  }

  #recover(candidate: Candidate): void {
    if (candidate.failure === undefined) return;
    candidate.failure = undefined;
    this.#log.info({ model: candidate.model.name }, 'language model answers again');
  }

  #fail(candidate: Candidate, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const isNews = candidate.failure?.message !== message;
    candidate.failure = { atMs: this.#clock.nowMs(), message };
    const next = this.#order()[0];
    if (isNews && this.#isChecked && next !== undefined) {
      const fields = { model: candidate.model.name, reason: message, next: next.model.name };
      this.#log.warn(fields, 'language model failed');
    }
  }
}

/** The message of a model's failure says what to do about it. */
function replacementOf([best]: readonly Candidate[]): Pick<LanguageModelReport, 'replacement'> {
  if (best?.failure === undefined) return {};
  return { replacement: { engine: best.model.name, how: best.failure.message } };
}

function reasonFor(better: readonly Candidate[], current: Candidate | undefined): string {
  const failures = better.flatMap(({ failure }) => (failure ? [failure.message] : []));
  if (failures.length > 0) return failures.join('; ');
  return current?.failure === undefined
    ? 'first of the order in LLM'
    : `nothing better is left, although: ${current.failure.message}`;
}

/** Parallel prompts slow each other down, and most servers cache few of them. */
const WARMING_MAX = 2;

/** From so many answers under way on, the machine is busy with callers who wait. */
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
