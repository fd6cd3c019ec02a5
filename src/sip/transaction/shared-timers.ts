/** Clock whose timers of equal length share one timer of the system: a busy engine holds a hundred thousand of them. */
import type { Clock } from '../../lib/clock.ts';

/** Timers of one length that expire within this time of each other fire together. A longer length allows more: 100 ms of 32 s. */
const GRAIN_MS = 10;
const GRAIN_OF_DELAY = 1 / 320;

/** Timers of Node count whole milliseconds, and may fire that much early. */
const EARLY_MS_MAX = 1;

/** SIP has a handful of lengths, such as 64*T1, T1 and T4. A queue exists while it holds a timer. */
export class SharedTimers implements Clock {
  readonly #clock: Clock;
  readonly #queues = new Map<number, TimerQueue>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  now(): Date {
    return this.#clock.now();
  }

  after(delayMs: number, run: () => void): () => void {
    let queue = this.#queues.get(delayMs);
    if (queue === undefined) {
      queue = new TimerQueue(this.#clock, delayMs, () => this.#queues.delete(delayMs));
      this.#queues.set(delayMs, queue);
    }
    return queue.add(run);
  }

  /** Drops all timers. Safe to call twice. */
  stop(): void {
    for (const queue of [...this.#queues.values()]) queue.stop();
  }
}

interface Timer {
  readonly endsAtMs: number;
  /** Undefined once it has fired or was cancelled. */
  run: (() => void) | undefined;
}

/** Timers of one length, which expire in the order they were added. */
class TimerQueue {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #grainMs: number;
  readonly #onEmpty: () => void;
  #timers: Timer[] = [];
  /** Index of the first timer that may not have fired. */
  #first = 0;
  #cancelAlarm: () => void;

  /** Starts the alarm of the first timer, which must be added at once. */
  constructor(clock: Clock, delayMs: number, onEmpty: () => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#grainMs = Math.max(GRAIN_MS, delayMs * GRAIN_OF_DELAY);
    this.#onEmpty = onEmpty;
    this.#cancelAlarm = clock.after(delayMs, () => this.#fireExpired());
  }

  /** @returns cancels the timer; safe to call twice, and after it has fired. */
  add(run: () => void): () => void {
    const timer: Timer = { endsAtMs: this.#clock.nowMs() + this.#delayMs, run };
    this.#timers.push(timer);
    return () => {
      timer.run = undefined;
    };
  }

  stop(): void {
    this.#cancelAlarm();
    for (const timer of this.#timers) timer.run = undefined;
    this.#onEmpty();
  }

  /** An exception of one timer reaches the caller, and leaves the others to the next alarm. */
  #fireExpired(): void {
    const nowMs = this.#clock.nowMs();
    let waitMsMin = 0;
    try {
      for (let timer = this.#take(nowMs); timer !== undefined; timer = this.#take(nowMs)) {
        waitMsMin = this.#grainMs;
        const { run } = timer;
        timer.run = undefined;
        run?.();
      }
    } finally {
      this.#setAlarm(waitMsMin);
    }
  }

  /** Removes the first timer that has expired, and the cancelled ones before it. */
  #take(nowMs: number): Timer | undefined {
    for (;;) {
      const timer = this.#timers[this.#first];
      if (timer === undefined) return undefined;
      const isCancelled = timer.run === undefined;
      if (!isCancelled && timer.endsAtMs - nowMs >= EARLY_MS_MAX) return undefined;
      this.#first += 1;
      if (!isCancelled) return timer;
    }
  }

  #setAlarm(waitMsMin: number): void {
    this.#timers = this.#timers.slice(this.#first);
    this.#first = 0;
    const [next] = this.#timers;
    if (next === undefined) {
      this.#onEmpty();
      return;
    }
    const waitMs = Math.max(next.endsAtMs - this.#clock.nowMs(), waitMsMin);
    this.#cancelAlarm = this.#clock.after(waitMs, () => this.#fireExpired());
  }
}
