/** How long what was said to a line lasts, at the least: it is reckoned, since the line plays on another thread; pure */
import { LINE_RATE_HZ } from '../audio-stream.ts';

/** One line's. A reply may begin later than it is said, and may be paused, but is never played faster. */
export class SaidSpeech {
  #generation = Number.NaN;
  #lastsUntilMs = 0;

  /** Adds to a reply. @returns for how many milliseconds what was said of it before lasts, at the least. */
  add(generation: number, samples: number, nowMs: number): number {
    const isBegun = generation === this.#generation;
    const aheadMs = isBegun ? Math.max(0, this.#lastsUntilMs - nowMs) : 0;
    this.#generation = generation;
    this.#lastsUntilMs = nowMs + aheadMs + (samples * 1000) / LINE_RATE_HZ;
    return aheadMs;
  }
}
