/** How long answers take, so that those which cannot come in time are refused at once; pure */

/** Weight of the newest answer: about the last ten count. */
const NEWEST_WEIGHT = 0.2;

/** Shared by all recogniser processes of one machine. */
export class AnswerPace {
  #typicalMs = 0;

  /** Running mean; 0 before the first answer. */
  get typicalMs(): number {
    return this.#typicalMs;
  }

  answered(tookMs: number): void {
    const weight = this.#typicalMs === 0 ? 1 : NEWEST_WEIGHT;
    this.#typicalMs += (tookMs - this.#typicalMs) * weight;
  }

  /** Whether an answer is likely to come within `timeoutMs` when `ahead` others come first; true when nothing is known. */
  isInTime(ahead: number, timeoutMs: number): boolean {
    return (ahead + 1) * this.#typicalMs <= timeoutMs;
  }
}
