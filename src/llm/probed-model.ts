/** A language model that is skipped while it fails, and probed in the background until it answers again. */
import { type Clock, TimeLimit } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { messageOf } from '../lib/unknown-value.ts';
import {
  type ChatMessage,
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from './language-model.ts';

/** Pauses between the probes of a model that failed a caller. */
const PROBE_AFTER_MS_MIN = 2000;
const PROBE_AFTER_MS_MAX = 60_000;

/** The model may have to be loaded first. */
const PROBE_MS_MAX = 60_000;

/** The smallest real question. */
export const PROBE: readonly ChatMessage[] = [
  { role: 'system', content: 'Answer in one word.' },
  { role: 'user', content: 'Hello.' },
];

interface Options {
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether prompts are read ahead, which loads a model. */
  readonly mayWarm: boolean;
  /** Called for a failure that differs from the one before. */
  readonly onFailure?: (failure: string) => void;
  /** Whether a probe is worth its work; always unless given. Without it the failure is forgotten. */
  readonly isWanted?: () => boolean;
}

/** Knows whether a model may be asked: `check` would pass where a server lists its models and never answers. */
export class ProbedModel {
  readonly model: LanguageModel;
  readonly #options: Options;
  readonly #end = new AbortController();
  #failure: string | undefined;
  /** The newest refusal of a single request. */
  #refusal: string | undefined;
  /** Answers and probes that failed since the last answer that a caller got. */
  #faults = 0;
  #cancelProbe: (() => void) | undefined;

  constructor(model: LanguageModel, options: Options) {
    this.model = model;
    this.#options = options;
  }

  /** Why it may not be asked; undefined while it may. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * Answers a caller. Callers who fail together are one fault; one whose request is refused takes the model from no other.
   *
   * @returns why it failed before its first word; undefined once it has answered.
   * @throws {Error} the failure after its first word: half an answer cannot be withdrawn, and another model would start over.
   * @throws the signal's reason when aborted.
   */
  async *answer(
    request: ModelRequest,
  ): AsyncGenerator<ModelEvent, { readonly error: unknown } | undefined> {
    let hasAnswered = false;
    try {
      for await (const event of this.model.stream(request)) {
        hasAnswered = true;
        yield event;
      }
    } catch (error) {
      request.signal.throwIfAborted();
      // A probe tells whether a server that refused one request answers others: callers are not to lose it for that.
      if (isOfRequest(error)) this.#refused(error);
      else this.#fail(error);
      if (this.#cancelProbe === undefined) this.#probeLater();
      if (hasAnswered) throw error;
      return { error };
    }
    this.#faults = 0;
    this.#recover();
    return undefined;
  }

  /** Asks whether it would answer. Never rejects: `failure` has the result. */
  async check(): Promise<void> {
    try {
      await this.model.check();
      if (this.#cancelProbe === undefined) this.#recover();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends probes and the model itself. Safe to call twice. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the server stops'));
    this.#cancelProbe?.();
    await this.model.stop?.();
  }

  #probeLater(): void {
    this.#cancelProbe?.();
    if (this.#end.signal.aborted) return;
    const waitMs = Math.min(PROBE_AFTER_MS_MAX, PROBE_AFTER_MS_MIN * 2 ** this.#faults);
    this.#faults += 1;
    this.#cancelProbe = this.#options.clock.after(waitMs, () => void this.#probe());
  }

  /** Never rejects. */
  async #probe(): Promise<void> {
    const { clock, isWanted, mayWarm } = this.#options;
    if (isWanted?.() === false) return this.#forget();
    const reason = `no answer within ${PROBE_MS_MAX / 1000} s`;
    using limit = new TimeLimit(clock, PROBE_MS_MAX, { signal: this.#end.signal, reason });
    const { signal } = limit;
    try {
      if (mayWarm) await this.model.warm?.({ messages: PROBE, signal });
      for await (const _ of this.model.stream({ messages: PROBE, signal })) break;
      this.#recover();
    } catch (error) {
      // A caller's answer may have come meanwhile, where no other model was left.
      if (this.#cancelProbe === undefined || this.#end.signal.aborted) return;
      this.#fail(error);
      this.#probeLater();
    }
  }

  #forget(): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
    this.#failure = undefined;
    this.#faults = 0;
  }

  #recover(): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#options.log.info({ model: this.model.name }, 'language model answers again');
  }

  #refused(error: unknown): void {
    const message = messageOf(error);
    if (this.#refusal !== message) this.#options.onFailure?.(message);
    this.#refusal = message;
  }

  #fail(error: unknown): void {
    const message = messageOf(error);
    const isNews = this.#failure !== message;
    this.#failure = message;
    if (isNews) this.#options.onFailure?.(message);
  }
}

function isOfRequest(error: unknown): boolean {
  return error instanceof LanguageModelError && error.isOfRequest;
}
