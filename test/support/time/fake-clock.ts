/** A clock whose hands the test turns. */
import type { Clock } from '../../../src/lib/clock.ts';

interface Ring {
  readonly atMs: number;
  readonly ring: () => void;
}

export class FakeClock implements Clock {
  #nowMs: number;
  /** What the calendar shows beyond the elapsed time. */
  #calendarMs = 0;
  #rings: Ring[] = [];

  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  now(): Date {
    return new Date(this.#nowMs + this.#calendarMs);
  }

  /** Sets the calendar forward, or back where negative; no time goes by. */
  setCalendar(byMs: number): void {
    this.#calendarMs += byMs;
  }

  after(delayMs: number, ring: () => void): () => void {
    const entry = { atMs: this.#nowMs + Math.max(0, delayMs), ring };
    this.#rings.push(entry);
    return () => {
      this.#rings = this.#rings.filter((other) => other !== entry);
    };
  }

  /** How many rings are still to come. */
  get waiting(): number {
    return this.#rings.length;
  }

  /** Moves on, ringing what falls due, in order of its time. */
  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs;
    for (;;) {
      const due = this.#rings.filter(({ atMs }) => atMs <= untilMs);
      const next = due.reduce<Ring | undefined>(
        (first, ring) => (first === undefined || ring.atMs < first.atMs ? ring : first),
        undefined,
      );
      if (next === undefined) break;
      this.#rings = this.#rings.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.ring();
    }
    this.#nowMs = untilMs;
  }
}
