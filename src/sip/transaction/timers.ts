/** RFC 3261's timer values, derived from T1, T2 and T4; pure */
import type { Clock } from '../../lib/clock.ts';

/** T1, T2 and T4, from which all timers derive. @see RFC 3261 section 17.1.1.1 and table 4 */
export interface BaseTimers {
  /** Estimate of a round trip. */
  readonly t1Ms: number;
  /** Longest wait between repeats of anything but INVITE. */
  readonly t2Ms: number;
  /** Longest time that a message stays in the network. */
  readonly t4Ms: number;
}

/** RFC 3261's default timer values. */
export const STANDARD_TIMERS: BaseTimers = { t1Ms: 500, t2Ms: 4000, t4Ms: 5000 };

/** Delay of the automatic 100 to an INVITE. RFC 3261, 17.2.1 allows 200 ms at most. */
export const TRYING_AFTER_MS = 150;

/** All timers over one kind of transport, in milliseconds. Zero: the wait is left out. */
export interface TransactionTimers {
  /** First wait before INVITE is repeated; doubles. 0 over reliable transports. */
  readonly aMs: number;
  /** INVITE is given up. */
  readonly bMs: number;
  /** A client keeps acknowledging repeated refusals. */
  readonly dMs: number;
  /** First wait before other requests are repeated; doubles up to T2. 0 over reliable transports. */
  readonly eMs: number;
  /** Other requests are given up. */
  readonly fMs: number;
  /** First wait before a refusal is repeated; doubles up to T2. 0 over reliable transports. */
  readonly gMs: number;
  /** Time-out of the ACK of a refusal. */
  readonly hMs: number;
  /** A server swallows repeated ACKs. */
  readonly iMs: number;
  /** A server repeats its answer to repeated requests. */
  readonly jMs: number;
  /** A client swallows repeated answers. */
  readonly kMs: number;
  /** A server keeps an accepted INVITE, so that repeats of it are not taken for new calls. RFC 6026, 7.1. */
  readonly lMs: number;
  /** A client takes repeated and forked 2xx. RFC 6026, 7.2. */
  readonly mMs: number;
  /** Upper limit of waits between repeats. */
  readonly t2Ms: number;
}

/** Every transaction holds one of these, so they are made once. */
export interface TimerTables {
  readonly reliable: TransactionTimers;
  readonly unreliable: TransactionTimers;
}

/** Derives both timer tables. */
export function timerTables(base: BaseTimers): TimerTables {
  return { reliable: transactionTimers(base, true), unreliable: transactionTimers(base, false) };
}

/**
 * The table for one kind of transport.
 *
 * @see RFC 3261 table 4 and RFC 6026 section 7
 */
function transactionTimers(base: BaseTimers, isReliable: boolean): TransactionTimers {
  const { t1Ms, t2Ms, t4Ms } = base;
  const patienceMs = 64 * t1Ms;
  return {
    aMs: isReliable ? 0 : t1Ms,
    bMs: patienceMs,
    dMs: isReliable ? 0 : patienceMs,
    eMs: isReliable ? 0 : t1Ms,
    fMs: patienceMs,
    gMs: isReliable ? 0 : t1Ms,
    hMs: patienceMs,
    iMs: isReliable ? 0 : t4Ms,
    jMs: isReliable ? 0 : patienceMs,
    kMs: isReliable ? 0 : t4Ms,
    lMs: patienceMs,
    mMs: patienceMs,
    t2Ms,
  };
}

/** Sends the same bytes again and again at growing distances: timers A, E and G, and 2xx to INVITE. */
export class Retransmitter {
  readonly #clock: Clock;
  readonly #resend: () => void;
  #waitMs: number;
  #longestMs: number;
  #cancel: () => void = () => undefined;

  /**
   * Starts at once; the caller sends first. @param options.longestMs limit of the interval; Infinity for unlimited
   * doubling.
   */
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
