/** A 2xx to INVITE that is repeated until its ACK comes. RFC 3261, 13.3.1.4. */
import type { Clock } from '../lib/clock.ts';
import type { SipMessage } from './message.ts';
import { Retransmitter } from './retransmitter.ts';
import type { BaseTimers } from './timers.ts';

export interface AckWaitOptions {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  /** CSeq number of the INVITE, which the ACK repeats. */
  readonly sequence: number;
  readonly repeat: () => void;
  /** No ACK within 64*T1. */
  readonly onTimeout: () => void;
}

/** Starts with the first sending of the 2xx, which is the caller's. Over every transport alike. */
export class AckWait {
  readonly sequence: number;
  /** The ACK; null when it is given up. */
  readonly acknowledged: Promise<SipMessage | null>;
  readonly #repeater: Retransmitter;
  readonly #cancelTimeout: () => void;
  #resolve: (ack: SipMessage | null) => void = () => undefined;
  #isSettled = false;

  constructor(options: AckWaitOptions) {
    const { clock, timers } = options;
    this.sequence = options.sequence;
    this.acknowledged = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#repeater = new Retransmitter({
      clock,
      firstMs: timers.t1Ms,
      longestMs: timers.t2Ms,
      resend: options.repeat,
    });
    this.#cancelTimeout = clock.after(64 * timers.t1Ms, () => {
      this.settle(null);
      options.onTimeout();
    });
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  settle(ack: SipMessage | null): void {
    this.#isSettled = true;
    this.#repeater.stop();
    this.#cancelTimeout();
    this.#resolve(ack);
  }
}
