/** Time as an injected part, so that tests control it: clocks, notifiers and time limits. */

/** Lengths of time, in milliseconds. Days of a time zone may be longer or shorter. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

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
 * Caches the answer of `ask` for `keptMs`. Its errors are not cached.
 *
 * @returns asks, or returns the cached answer.
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

  /** Aborts work that is still running, before the time is over. */
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

/** A ring that is to come, at an instant of the faster clock. */
interface Waiting {
  readonly atMs: number;
  readonly ring: () => void;
  cancel: () => void;
}

/**
 * Begins at the real instant at which it is made, and runs `speed` times as fast from there: its instants lie ahead of
 * the real ones, and two of them made at different instants do not agree. Make one for each thing that is simulated.
 */
export class ScaledClock implements Clock {
  readonly #clock: Clock;
  readonly #speed: number;
  readonly #waiting = new Set<Waiting>();
  /** How many have asked for real speed. */
  #slowings = 0;
  /** Time of the underlying clock when the speed last changed, and the simulated time at that instant. */
  #realMs: number;
  #shownMs: number;

  /** @throws {RangeError} when `speed` is not a positive number. */
  constructor(options: { readonly speed: number; readonly clock?: Clock }) {
    const { speed, clock = systemClock } = options;
    if (!Number.isFinite(speed) || speed <= 0) {
      throw new RangeError(`Cannot run a clock at speed ${speed}: expected a positive number`);
    }
    this.#speed = speed;
    this.#clock = clock;
    this.#realMs = clock.nowMs();
    this.#shownMs = this.#realMs;
  }

  nowMs(): number {
    return this.#shownMs + (this.#clock.nowMs() - this.#realMs) * this.#pace;
  }

  /** Calendar time of the clock below plus the lead of `nowMs` over that clock: its calendar may have been set. */
  now(): Date {
    const aheadMs = this.nowMs() - this.#clock.nowMs();
    return new Date(this.#clock.now().getTime() + aheadMs);
  }

  after(delayMs: number, ring: () => void): () => void {
    const waiting = { atMs: this.nowMs() + delayMs, ring, cancel: () => undefined };
    this.#waiting.add(waiting);
    this.#schedule(waiting);
    return () => {
      waiting.cancel();
      this.#waiting.delete(waiting);
    };
  }

  /**
   * Runs at the speed of the underlying clock for a while: work that is not simulated, such as that of an engine or a
   * disk, then takes as long as in a real call.
   *
   * @returns ends this; safe to call twice. Time stays slow until every caller has ended it.
   */
  slowDown(): () => void {
    this.#change(1);
    let isOver = false;
    return () => {
      if (!isOver) this.#change(-1);
      isOver = true;
    };
  }

  get #pace(): number {
    return this.#slowings > 0 ? 1 : this.#speed;
  }

  #change(slowings: number): void {
    const paceBefore = this.#pace;
    this.#shownMs = this.nowMs();
    this.#realMs = this.#clock.nowMs();
    this.#slowings += slowings;
    if (this.#pace === paceBefore) return;
    for (const waiting of this.#waiting) {
      waiting.cancel();
      this.#schedule(waiting);
    }
  }

  #schedule(waiting: Waiting): void {
    const restMs = Math.max(0, waiting.atMs - this.nowMs());
    waiting.cancel = this.#clock.after(restMs / this.#pace, () => {
      this.#waiting.delete(waiting);
      waiting.ring();
    });
  }
}
