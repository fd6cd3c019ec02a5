/** Rings of calls that are over, used again: memory that three threads share goes back only when all three have collected it; pure */
import { ReceiveRing, RING_MS } from './receive-ring.ts';

/** Kept for later at most: 32 MB, the rings of as many calls as one thread has. What was more is left to be collected. */
const KEPT_RINGS_MAX = 500;

interface Resting {
  readonly ring: ReceiveRing;
  readonly sinceMs: number;
}

/** Whoever claims a ring gives it back when nobody writes into it any more. Instants are of one clock that never goes back. */
export class RingPool {
  readonly #claimed = new Set<ReceiveRing>();
  /** The one that has rested longest comes first. */
  readonly #resting: Resting[] = [];

  /**
   * An empty ring. Whoever still reads a ring that was given back reads nothing of what comes into this one; a ring rests as
   * long as it is, so that the last words of its call are read by then.
   */
  claim(nowMs: number): ReceiveRing {
    const [oldest] = this.#resting;
    const isRested = oldest !== undefined && nowMs - oldest.sinceMs >= RING_MS;
    if (isRested) this.#resting.shift();
    const ring = isRested ? oldest.ring.renew() : new ReceiveRing();
    this.#claimed.add(ring);
    return ring;
  }

  /** Safe to call twice. */
  release(ring: ReceiveRing, nowMs: number): void {
    if (!this.#claimed.delete(ring) || this.#resting.length >= KEPT_RINGS_MAX) return;
    this.#resting.push({ ring, sinceMs: nowMs });
  }
}
