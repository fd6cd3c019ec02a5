/** Fallback chain of language models in order of preference. */

import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { type LanguageModelCounts, UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import { TimeLimit } from '../lib/time-limit.ts';
import {
  type ChatMessage,
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from './language-model.ts';
import { PrefixWarming } from './prefix-warming.ts';

/** Pauses between the probes of a model that failed a caller. */
const PROBE_AFTER_MS_MIN = 2000;
const PROBE_AFTER_MS_MAX = 60_000;

/** The model may have to be loaded first. */
const PROBE_MS_MAX = 60_000;

const PROBE: readonly ChatMessage[] = [
  { role: 'system', content: 'Answer in one word.' },
  { role: 'user', content: 'Hello.' },
];

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
  /** While it may not be asked. */
  failure: string | undefined;
  /** Answers and probes that failed since the last answer that a caller got. */
  faults: number;
  cancelProbe: (() => void) | undefined;
}

/**
 * Asks the best model that works. One that fails a caller is skipped until a probe in the background, a real answer, has
 * succeeded: `check` would pass where a server lists its models and never answers.
 */
export class FallbackModel implements LanguageModel {
  readonly #candidates: readonly Candidate[];
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #counts: LanguageModelCounts;
  readonly #warming: PrefixWarming;
  readonly #mayWarm: boolean;
  readonly #end = new AbortController();
  /** Before it, the start itself tells which model answers and why. */
  #isChecked = false;

  /** @param options.models the best first; at least one. */
  constructor(options: {
    readonly models: readonly LanguageModel[];
    readonly clock: Clock;
    readonly log: Logger;
    readonly counts?: LanguageModelCounts;
    /** Whether prompts are read ahead, which loads a model; true unless given. */
    readonly mayWarm?: boolean;
  }) {
    if (options.models.length === 0) throw new RangeError('Cannot choose a model out of none');
    this.#candidates = options.models.map((model) => ({
      ...{ model, failure: undefined, faults: 0, cancelProbe: undefined },
    }));
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
        candidate.faults = 0;
        this.#recover(candidate);
        return;
      } catch (error) {
        request.signal.throwIfAborted();
        this.#fail(candidate, error);
        // Callers who fail together are one fault.
        if (candidate.cancelProbe === undefined) this.#probeLater(candidate);
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
      const states = this.#candidates.map(({ failure }) => failure).join('; ');
      throw new LanguageModelError(`Cannot use any language model: ${states}`);
    }
  }

  async stop(): Promise<void> {
    this.#end.abort(new Error('the server stops'));
    for (const { cancelProbe } of this.#candidates) cancelProbe?.();
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
      if (candidate.cancelProbe === undefined) this.#recover(candidate);
    } catch (error) {
      this.#fail(candidate, error);
    }
  }

  #probeLater(candidate: Candidate): void {
    candidate.cancelProbe?.();
    if (this.#end.signal.aborted) return;
    const waitMs = Math.min(PROBE_AFTER_MS_MAX, PROBE_AFTER_MS_MIN * 2 ** candidate.faults);
    candidate.faults += 1;
    candidate.cancelProbe = this.#clock.after(waitMs, () => void this.#probe(candidate));
  }

  /** Never rejects. */
  async #probe(candidate: Candidate): Promise<void> {
    const reason = `no answer within ${PROBE_MS_MAX / 1000} s`;
    using limit = new TimeLimit(this.#clock, PROBE_MS_MAX, { signal: this.#end.signal, reason });
    const { signal } = limit;
    try {
      if (this.#mayWarm) await candidate.model.warm?.({ messages: PROBE, signal });
      for await (const _ of candidate.model.stream({ messages: PROBE, signal })) break;
      this.#recover(candidate);
    } catch (error) {
      // A caller's answer may have come meanwhile, where no other model was left.
      if (candidate.cancelProbe === undefined || this.#end.signal.aborted) return;
      this.#fail(candidate, error);
      this.#probeLater(candidate);
    }
  }

  /** Those that work; all of them when none does. */
  #order(): readonly Candidate[] {
    const working = this.#candidates.filter(({ failure }) => failure === undefined);
    return working.length > 0 ? working : this.#candidates;
  }

  #recover(candidate: Candidate): void {
    candidate.cancelProbe?.();
    candidate.cancelProbe = undefined;
    if (candidate.failure === undefined) return;
    candidate.failure = undefined;
    this.#log.info({ model: candidate.model.name }, 'language model answers again');
  }

  #fail(candidate: Candidate, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const isNews = candidate.failure !== message;
    candidate.failure = message;
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
  return { replacement: { engine: best.model.name, how: best.failure } };
}

function reasonFor(better: readonly Candidate[], current: Candidate | undefined): string {
  const failures = better.flatMap(({ failure }) => failure ?? []);
  if (failures.length > 0) return failures.join('; ');
  return current?.failure === undefined
    ? 'first of the order in LLM'
    : `nothing better is left, although: ${current.failure}`;
}
