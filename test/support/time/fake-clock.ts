/** A clock whose hands the test turns. */
import { setImmediate } from 'node:timers/promises';
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
    while (this.#ringNext(untilMs));
    this.#nowMs = untilMs;
  }

  /** As `advance`, but what is asynchronous comes to its end before the next ring. */
  async pass(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    do await setImmediate();
    while (this.#ringNext(untilMs));
    this.#nowMs = untilMs;
  }

  /** @returns whether something fell due. */
  #ringNext(untilMs: number): boolean {
    const due = this.#rings.filter(({ atMs }) => atMs <= untilMs);
    const next = due.reduce<Ring | undefined>(
      (first, ring) => (first === undefined || ring.atMs < first.atMs ? ring : first),
      undefined,
    );
    if (next === undefined) return false;
    this.#rings = this.#rings.filter((other) => other !== next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.ring();
    return true;
  }
}
