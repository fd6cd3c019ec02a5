/** A clock that runs faster than the one under it, so that a simulated call is over in a tenth of its time. */
import { type Clock, systemClock } from './clock.ts';

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
  /** An instant of the clock under this one, and what this one showed then. */
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

  /** As far from the calendar of the clock under it as `nowMs` is from its `nowMs`: that calendar may have been set. */
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
   * Runs as fast as the clock under it for a while: what is not simulated, such as an engine or a disk, is given its
   * time, and takes as long as it would in a real call.
   *
   * @returns ends that; safe to call twice. Time is slow until everybody who slowed it has done so.
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
