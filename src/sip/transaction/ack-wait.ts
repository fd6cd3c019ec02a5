/** A 2xx to INVITE that is repeated until its ACK comes. RFC 3261, 13.3.1.4. */
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import type { Outcome } from '../outcome.ts';
import { Retransmitter } from './retransmitter.ts';
import type { BaseTimers } from './timers.ts';

export interface AckWaitOptions {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  /** CSeq number of the INVITE, which the ACK repeats. */
  readonly sequence: number;
  /** Is settled with the ACK, or null when it is given up. */
  readonly ack: Outcome<SipMessage | null>;
  readonly repeat: () => void;
  /** No ACK within 64*T1. */
  readonly onTimeout: () => void;
}

/** Starts with the first sending of the 2xx, which is the caller's. Over every transport alike. */
export class AckWait {
  readonly sequence: number;
  readonly #ack: Outcome<SipMessage | null>;
  readonly #repeater: Retransmitter;
  readonly #cancelTimeout: () => void;

  constructor(options: AckWaitOptions) {
    const { clock, timers } = options;
    this.sequence = options.sequence;
    this.#ack = options.ack;
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

  /** The ACK; null when it is given up. */
  get acknowledged(): Promise<SipMessage | null> {
    return this.#ack.promise;
  }

  get isSettled(): boolean {
    return this.#ack.isSettled;
  }

  settle(ack: SipMessage | null): void {
    this.#repeater.stop();
    this.#cancelTimeout();
    this.#ack.settle(ack);
  }
}
