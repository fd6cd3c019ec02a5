/** Time as an injected part, so that tests control it; notifiers and time limits. */

/** Current time and one-shot timers. Instants are comparable between threads and processes of one machine. */
export interface Clock {
  /** Milliseconds since 1970, with a fraction, never going back while the process lives. */
  nowMs(): number;

  /** The same instant as a calendar date, for what customers see. */
  now(): Date;

  /**
   * Calls `ring` once, `delayMs` from now.
   *
   * @returns cancels the ring; safe to call twice, and after it rang.
   */
  after(delayMs: number, ring: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => performance.timeOrigin + performance.now(),
  now: () => new Date(),
  after: (delayMs, ring) => {
    if (delayMs > TIMER_MS_MAX) return afterLong(delayMs, ring);
    const timer = setTimeout(ring, delayMs);
    return () => clearTimeout(timer);
  },
};

/** 25 days. Node's timers ring at once when they are given more. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function afterLong(delayMs: number, ring: () => void): () => void {
  let cancel = systemClock.after(TIMER_MS_MAX, () => {
    cancel = systemClock.after(delayMs - TIMER_MS_MAX, ring);
  });
  return () => cancel();
}

/** Notifies listeners of new work: once for several reasons, and never inside the code that gives one. */
export class Notifier {
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  /** Adds a listener. @returns removes it; safe to call twice. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listeners in a microtask. */
  notify(): void {
    if (this.#isDue || this.#listeners.size === 0) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

/**
 * Gives the same answer for `keptMs` after it was found. What `ask` throws is not kept.
 *
 * @returns asks, or gives what was answered.
 */
export function cached<Answer>(
  ask: () => Answer,
  { keptMs, clock }: { readonly keptMs: number; readonly clock: Clock },
): () => Answer {
  let last: { readonly answer: Answer; readonly atMs: number } | undefined;
  return () => {
    const nowMs = clock.nowMs();
    if (last === undefined || nowMs - last.atMs >= keptMs) last = { answer: ask(), atMs: nowMs };
    return last.answer;
  };
}

/** Longest life of a SIP transaction: 64 times T1. RFC 3261, 17.1.1.2. */
export const TRANSACTION_MS = 32_000;

/** No reply within the time limit. */
export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/**
 * Waits for a promise, but no longer than `limitMs`.
 *
 * @throws {OverdueError} when it is not settled by then.
 */
export function within<T>(clock: Clock, limitMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () =>
      reject(new OverdueError(`No answer came within ${limitMs / 1000} s`)),
    );
    promise.then(resolve, reject).finally(cancel);
  });
}
