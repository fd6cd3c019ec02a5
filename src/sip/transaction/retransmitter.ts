/** Sends the same bytes again and again at growing distances: timers A, E and G, and 2xx to INVITE. */
import type { Clock } from '../../lib/clock.ts';
import { doNothing } from '../noop.ts';

export class Retransmitter {
  readonly #clock: Clock;
  readonly #resend: () => void;
  #waitMs: number;
  #longestMs: number;
  #cancel: () => void = doNothing;

  /** `longestMs`: Infinity where the distance doubles without limit. Starts at once; the first sending is the caller's. */
  constructor(options: { clock: Clock; firstMs: number; longestMs: number; resend: () => void }) {
    this.#clock = options.clock;
    this.#waitMs = options.firstMs;
    this.#longestMs = options.longestMs;
    this.#resend = options.resend;
    this.#arm();
  }

  /** From the next repeat on, waits that long and no longer. RFC 3261, 17.1.2.2, Proceeding. */
  settleAt(waitMs: number): void {
    this.#waitMs = waitMs;
    this.#longestMs = waitMs;
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    this.#cancel = this.#clock.after(this.#waitMs, () => {
      this.#waitMs = Math.min(2 * this.#waitMs, this.#longestMs);
      this.#arm();
      this.#resend();
    });
  }
}
