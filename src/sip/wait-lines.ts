/** A clock whose waits of equal length share one alarm: a busy engine has a hundred thousand of them. */
import type { Clock } from '../lib/clock.ts';
import { doNothing } from './nothing.ts';

/** Under load waits end in groups, up to that much late: waking for each costs more than what it does. */
const GRAIN_MS = 10;

/** Timers of Node count whole milliseconds, and so may ring that much early. */
const EARLY_MS_MAX = 1;

/** Ended waits at the head of a line that are kept before the line moves up. */
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

/** Waits of one length end in the order they began, so only the first needs an alarm. */
class WaitLine {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #onEmpty: () => void;
  /** When each wait ends, and what it rings: undefined where it has rung or was cancelled. */
  readonly #endsAtMs: number[] = [];
  readonly #rings: ((() => void) | undefined)[] = [];
  /** Place of the first that has not ended. */
  #first = 0;
  /** How many have left the lists: a wait's number, less this, is its place. */
  #left = 0;
  #waiting = 0;
  #cancelAlarm: () => void = doNothing;

  constructor(clock: Clock, delayMs: number, onEmpty: () => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#onEmpty = onEmpty;
  }

  join(ring: () => void): () => void {
    const number = this.#left + this.#rings.length;
    this.#endsAtMs.push(this.#clock.nowMs() + this.#delayMs);
    this.#rings.push(ring);
    this.#waiting += 1;
    if (this.#rings.length === 1) this.#setAlarm(this.#delayMs);
    return () => this.#cancel(number);
  }

  #cancel(number: number): void {
    const place = number - this.#left;
    if (place < 0 || this.#rings[place] === undefined) return;
    this.#rings[place] = undefined;
    this.#waiting -= 1;
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
    while ((this.#endsAtMs[this.#first] ?? Number.POSITIVE_INFINITY) - nowMs < EARLY_MS_MAX) {
      const ring = this.#rings[this.#first];
      this.#rings[this.#first] = undefined;
      this.#first += 1;
      if (ring !== undefined) {
        this.#waiting -= 1;
        return ring;
      }
    }
    return undefined;
  }

  #moveUp(waitMsMin: number): void {
    if (this.#rings.length === 0) return;
    if (this.#waiting === 0) {
      this.close();
      return;
    }
    while (this.#rings[this.#first] === undefined) this.#first += 1;
    const waitMs = (this.#endsAtMs[this.#first] ?? 0) - this.#clock.nowMs();
    this.#setAlarm(Math.max(waitMs, waitMsMin));
    if (this.#first < Math.max(ENDED_MAX, this.#rings.length / 2)) return;
    this.#endsAtMs.splice(0, this.#first);
    this.#rings.splice(0, this.#first);
    this.#left += this.#first;
    this.#first = 0;
  }

  /** Forgets its waits, and that there is such a line. */
  close(): void {
    this.#cancelAlarm();
    this.#left += this.#rings.length;
    this.#endsAtMs.length = 0;
    this.#rings.length = 0;
    this.#first = 0;
    this.#waiting = 0;
    this.#onEmpty();
  }
}
