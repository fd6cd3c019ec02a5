/** Time limits of work that can be aborted, and waits that end at a limit. */
import type { Clock } from './clock.ts';

/** A time limit as a signal. Declare it by `using`: leaving the scope ends the wait. */
export class TimeLimit implements Disposable {
  /** Aborts when the time is over, or with the signal of the caller. */
  readonly signal: AbortSignal;
  readonly #end = new AbortController();
  readonly #cancel: () => void;
  #isOver = false;

  /** @param options.reason message of the signal's reason. */
  constructor(
    clock: Clock,
    limitMs: number,
    options: { readonly signal?: AbortSignal; readonly reason: string },
  ) {
    const { signal, reason } = options;
    this.signal = signal ? AbortSignal.any([signal, this.#end.signal]) : this.#end.signal;
    this.#cancel = clock.after(limitMs, () => {
      this.#isOver = true;
      this.#end.abort(new Error(reason));
    });
  }

  /** Whether the time was over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborts what still runs before the time is over. */
  abort(reason: Error): void {
    this.#end.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }
}

/**
 * Waits for work that may ignore the signal.
 *
 * @throws the signal's reason when aborted.
 */
export async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Waits for work to end, but no longer than `limitMs`. */
export async function waitAtMost(
  clock: Clock,
  limitMs: number,
  work: Promise<unknown>,
): Promise<void> {
  const over = Promise.withResolvers<void>();
  const cancel = clock.after(limitMs, over.resolve);
  await Promise.race([work, over.promise]).finally(cancel);
}
