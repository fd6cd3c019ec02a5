/** A clock whose waits of equal length share one alarm: a busy engine has a hundred thousand of them. */
import type { Clock } from '../../lib/clock.ts';
import { doNothing } from '../nothing.ts';

/** Under load waits end in groups, up to that much late: waking for each costs more than what it does. */
const GRAIN_MS = 10;

/** Timers of Node count whole milliseconds, and so may ring that much early. */
const EARLY_MS_MAX = 1;

/** Ended waits that stay at the head of a line before it moves up. */
const ENDED_MAX = 1024;

/** SIP has a handful of lengths: 64*T1, T1, T4. A length has its line until its alarm finds nobody there. */
export class WaitLines implements Clock {
  readonly #clock: Clock;
  readonly #lines = new Map<number, WaitLine>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  now(): Date {
    return this.#clock.now();
  }

  after(delayMs: number, ring: () => void): () => void {
    let line = this.#lines.get(delayMs);
    if (line === undefined) {
      line = new WaitLine(this.#clock, delayMs, () => this.#lines.delete(delayMs));
      this.#lines.set(delayMs, line);
    }
    return line.join(ring);
  }

  /** Forgets all waits. Safe to call twice. */
  stop(): void {
    for (const line of [...this.#lines.values()]) line.close();
  }
}

interface Wait {
  readonly endsAtMs: number;
  /**
   * Undefined once it has rung or was cancelled. It is cleared here and not in the list alone, for a list that has
   * grown leaves its old self to the garbage collector, which may take long to see that what stands there is gone.
   */
  ring: (() => void) | undefined;
}

/** Waits of one length end in the order they began, so only the first needs an alarm. */
class WaitLine {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #onEmpty: () => void;
  readonly #waits: Wait[] = [];
  /** Place of the first that may not have ended. */
  #first = 0;
  #cancelAlarm: () => void = doNothing;

  constructor(clock: Clock, delayMs: number, onEmpty: () => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#onEmpty = onEmpty;
  }

  join(ring: () => void): () => void {
    const wait: Wait = { endsAtMs: this.#clock.nowMs() + this.#delayMs, ring };
    this.#waits.push(wait);
    if (this.#waits.length === 1) this.#setAlarm(this.#delayMs);
    return () => {
      wait.ring = undefined;
    };
  }

  /** Forgets its waits, and that there is such a line. */
  close(): void {
    this.#cancelAlarm();
    for (const wait of this.#waits) wait.ring = undefined;
    this.#waits.length = 0;
    this.#first = 0;
    this.#onEmpty();
  }

  #setAlarm(waitMs: number): void {
    this.#cancelAlarm = this.#clock.after(waitMs, () => this.#ringAll());
  }

  /** Whatever one of them throws, the others have theirs. */
  #ringAll(): void {
    const nowMs = this.#clock.nowMs();
    let waitMsMin = 0;
    try {
      for (let ring = this.#next(nowMs); ring !== undefined; ring = this.#next(nowMs)) {
        waitMsMin = GRAIN_MS;
        ring();
      }
    } finally {
      this.#moveUp(waitMsMin);
    }
  }

  /** Takes the first wait off that has ended by then, and the cancelled ones before it. */
  #next(nowMs: number): (() => void) | undefined {
    for (;;) {
      const wait = this.#waits[this.#first];
      if (wait === undefined) return undefined;
      const { ring } = wait;
      if (ring !== undefined && wait.endsAtMs - nowMs >= EARLY_MS_MAX) return undefined;
      this.#first += 1;
      wait.ring = undefined;
      if (ring !== undefined) return ring;
    }
  }

  #moveUp(waitMsMin: number): void {
    const next = this.#waits[this.#first];
    if (next === undefined) {
      this.close();
      return;
    }
    this.#setAlarm(Math.max(next.endsAtMs - this.#clock.nowMs(), waitMsMin));
    if (this.#first < Math.max(ENDED_MAX, this.#waits.length / 2)) return;
    this.#waits.splice(0, this.#first);
    this.#first = 0;
  }
}
