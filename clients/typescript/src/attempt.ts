/** One attempt at a request: its time limit, and what its failures become. */
import { ConnectionFailedError, OffhookError, RequestTimeoutError } from './errors.ts';

/** Limits the time of an attempt, and turns what the platform throws into errors of this library. */
export class Attempt {
  readonly signal: AbortSignal;
  readonly #operation: string;
  readonly #timeoutMs: number;
  readonly #given: AbortSignal | undefined;
  readonly #late = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Its time begins at once. @param given ends it early */
  constructor(operation: string, timeoutMs: number, given: AbortSignal | undefined) {
    this.#operation = operation;
    this.#timeoutMs = timeoutMs;
    this.#given = given;
    this.signal =
      given === undefined ? this.#late.signal : AbortSignal.any([given, this.#late.signal]);
    this.restart();
  }

  /** Gives the whole time again: a piece of a stream has come. */
  restart(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#late.abort(), this.#timeoutMs);
  }

  /** Takes the time limit away. Safe to call twice. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** What to throw for an error of `fetch` or of a body: the reason of the caller's own signal, or an error of ours. */
  failure(error: unknown): unknown {
    if (error instanceof OffhookError) return error;
    if (this.#given?.aborted) return this.#given.reason;
    const what = `Cannot do "${this.#operation}"`;
    if (this.#late.signal.aborted) {
      return new RequestTimeoutError(`${what}: it took longer than ${this.#timeoutMs} ms`);
    }
    const why = 'no connection, or it was cut';
    return new ConnectionFailedError(`${what}: ${why}`, { cause: error });
  }
}

/** What an attempt has come to: a good answer, whose body is still to be read. */
export interface Opened {
  readonly response: Response;
  readonly attempt: Attempt;
}
