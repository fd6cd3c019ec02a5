/** The time of one call: the calendar as it stood when the call was answered, and from then on elapsed time alone. */
import type { Clock } from '../../lib/clock.ts';

/**
 * Gives a call instants that stay in order and as far apart as they were, whatever happens to the machine's calendar
 * meanwhile: a clock that is set back an hour would make a call of a minute end before it began.
 */
export class CallClock implements Clock {
  readonly #clock: Clock;
  /** From an instant of `nowMs` to the calendar, in milliseconds. */
  readonly #offsetMs: number;

  /** @param notBefore the earliest date that `now` may give: the beginning of the call. */
  constructor(clock: Clock, notBefore: Date) {
    this.#clock = clock;
    const dateMs = Math.max(clock.now().getTime(), notBefore.getTime());
    // Whole milliseconds, as dates have them.
    this.#offsetMs = dateMs - Math.floor(clock.nowMs());
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  now(): Date {
    return this.dateOf(this.nowMs());
  }

  /** The date of an instant that `nowMs` has given, here or on the clock below. */
  dateOf(atMs: number): Date {
    return new Date(atMs + this.#offsetMs);
  }

  after(delayMs: number, ring: () => void): () => void {
    return this.#clock.after(delayMs, ring);
  }
}
