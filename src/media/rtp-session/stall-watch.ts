/** Stall watch: notices that the media thread stood still, and gives late sound its place in time; pure */
import { FRAME_MS, LINE_RATE_HZ } from '../audio-stream.ts';

/** A longer time between ticks means that the thread stalled and packets may wait in the socket. */
const TICK_APART_MS_MAX = 2 * FRAME_MS + 1;

/** Sound that is further behind has no place right after the sound before it: a suspended machine. */
const BEHIND_MS_MAX = 5000;

/** One session's. Its ticks are due every 20 ms. */
export class StallWatch {
  #tickedAtMs = Number.NEGATIVE_INFINITY;
  /** Instant of the ticks that follow a stall. */
  #stalledAtMs = Number.NEGATIVE_INFINITY;

  /** Call it before the first tick. */
  start(nowMs: number): void {
    this.#tickedAtMs = nowMs;
  }

  /**
   * Notes a tick. @returns whether the thread stalled before it, so that packets may be unread and nothing is known to be missing. Missed
   * ticks follow at one instant; the sockets are read before the next.
   */
  tick(nowMs: number): boolean {
    if (this.#isLate(nowMs)) this.#stalledAtMs = nowMs;
    this.#tickedAtMs = nowMs;
    return nowMs === this.#stalledAtMs;
  }

  /**
   * Instant at which sound ends that is read or sent now: now or, where the thread was late with it, right after the sound
   * before it, which ended at `untilMs`.
   */
  placeOf(samples: number, untilMs: number, nowMs: number): number {
    const isLate = this.#isLate(nowMs) || nowMs - this.#stalledAtMs < FRAME_MS;
    if (!isLate || nowMs - untilMs > BEHIND_MS_MAX) return nowMs;
    return Math.min(nowMs, untilMs + (samples * 1000) / LINE_RATE_HZ);
  }

  #isLate(nowMs: number): boolean {
    return nowMs - this.#tickedAtMs > TICK_APART_MS_MAX;
  }
}
