/** A 2xx to INVITE that is repeated until its ACK comes. RFC 3261, 13.3.1.4. */
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import { doNothing } from '../noop.ts';
import type { Outcome } from '../outcome.ts';
import type { BaseTimers } from './timers.ts';
import type { ServerTransaction } from './transaction.ts';

export interface AckWaitOptions {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  /** CSeq number of the INVITE, which the ACK repeats. */
  readonly sequence: number;
  /** Is settled with the ACK, or null when it is given up. */
  readonly ack: Outcome<SipMessage | null>;
  /** What holds the 2xx: repeats it, and is told when there is no more need to. */
  readonly transaction: Pick<ServerTransaction, 'repeat' | 'acknowledged'>;
  /** No ACK within 64*T1. */
  readonly onTimeout: () => void;
}

/**
 * Starts with the first sending of the 2xx, which is the caller's. Over every transport alike.
 *
 * It has one alarm at a time: one for the very end would stand in its line for 32 seconds behind every call.
 */
export class AckWait {
  readonly sequence: number;
  readonly #options: AckWaitOptions;
  #waitMs: number;
  #patienceMs: number;
  #cancelAlarm: () => void;

  constructor(options: AckWaitOptions) {
    const { t1Ms } = options.timers;
    this.sequence = options.sequence;
    this.#options = options;
    this.#waitMs = t1Ms;
    this.#patienceMs = 64 * t1Ms;
    this.#cancelAlarm = this.#setAlarm();
  }

  /** The ACK; null when it is given up. */
  get acknowledged(): Promise<SipMessage | null> {
    return this.#options.ack.promise;
  }

  get isSettled(): boolean {
    return this.#options.ack.isSettled;
  }

  settle(ack: SipMessage | null): void {
    if (this.isSettled) return;
    this.#cancelAlarm();
    this.#cancelAlarm = doNothing;
    this.#options.transaction.acknowledged();
    this.#options.ack.settle(ack);
  }

  #setAlarm(): () => void {
    const waitMs = Math.min(this.#waitMs, this.#patienceMs);
    return this.#options.clock.after(waitMs, () => this.#waited(waitMs));
  }

  #waited(waitMs: number): void {
    this.#patienceMs -= waitMs;
    if (this.#patienceMs <= 0) {
      this.settle(null);
      this.#options.onTimeout();
      return;
    }
    this.#waitMs = Math.min(2 * this.#waitMs, this.#options.timers.t2Ms);
    this.#cancelAlarm = this.#setAlarm();
    this.#options.transaction.repeat();
  }
}
