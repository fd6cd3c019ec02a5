/** RFC 3261's timer values, derived from T1, T2 and T4, and retransmission by them. */
import type { Clock } from '../../lib/clock.ts';
import type { EngineStats } from '../engine-stats.ts';
import type { Flow } from '../transport/flow.ts';

/** T1, T2 and T4, from which all timers derive. @see RFC 3261 section 17.1.1.1 and table 4 */
export interface BaseTimers {
  /** Estimate of a round trip. */
  readonly t1Ms: number;
  /** Longest wait between repeats of messages other than INVITE. */
  readonly t2Ms: number;
  /** Longest time that a message stays in the network. */
  readonly t4Ms: number;
}

/** RFC 3261's default timer values. */
export const STANDARD_TIMERS: BaseTimers = { t1Ms: 500, t2Ms: 4000, t4Ms: 5000 };

/** Delay of the automatic 100 to an INVITE. RFC 3261, 17.2.1 allows 200 ms at most. */
export const TRYING_AFTER_MS = 150;

/** Dependencies of every transaction. */
export interface TransactionContext {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  readonly stats: EngineStats;
}

/** Waits of a transaction, in milliseconds. Zero: the wait is left out, as over reliable transports. */
export interface TransactionTimers {
  /** First wait before a message is repeated: timers A, E, G. */
  readonly repeatMs: number;
  /** Limit of the waits between repeats of messages other than INVITE: T2. */
  readonly repeatMsMax: number;
  /** Time-out: timers B, F, H; and L, M of RFC 6026, 7: how long an accepted INVITE is kept. */
  readonly patienceMs: number;
  /** How long repeats of the peer are answered after the end: timers D, J. */
  readonly answerMs: number;
  /** How long repeats of the peer are swallowed after the end: timers I, K. */
  readonly swallowMs: number;
}

/**
 * The timers that hold over this flow.
 *
 * @see RFC 3261 table 4 and RFC 6026 section 7
 */
export function timersOver({ isReliable }: Flow, context: TransactionContext): TransactionTimers {
  const { t1Ms, t2Ms, t4Ms } = context.timers;
  const patienceMs = 64 * t1Ms;
  const common = { repeatMsMax: t2Ms, patienceMs };
  return isReliable
    ? { ...common, repeatMs: 0, answerMs: 0, swallowMs: 0 }
    : { ...common, repeatMs: t1Ms, answerMs: patienceMs, swallowMs: t4Ms };
}

interface RetransmitterOptions {
  readonly clock: Clock;
  /** Wait before the first repeat; doubles with each. 0: nothing is repeated. */
  readonly firstMs: number;
  /** Limit of the waits; Infinity for unlimited doubling. */
  readonly longestMs: number;
  readonly resend: () => void;
  /** How long is repeated before `onTimeout` is called. */
  readonly patienceMs: number;
  readonly onTimeout: () => void;
}

/** Sends the same bytes again and again at growing distances, until it is stopped or its patience ends. The caller sends first. */
export class Retransmitter {
  readonly #options: RetransmitterOptions;
  readonly #cancelTimeout: () => void;
  #waitMs: number;
  #longestMs: number;
  #cancelRepeat: () => void = () => undefined;

  /** Starts at once. */
  constructor(options: RetransmitterOptions) {
    const { clock, firstMs, longestMs, patienceMs, onTimeout } = options;
    this.#options = options;
    this.#waitMs = firstMs;
    this.#longestMs = longestMs;
    if (firstMs > 0) this.#arm();
    this.#cancelTimeout = clock.after(patienceMs, () => {
      this.stop();
      onTimeout();
    });
  }

  /** From the next repeat on, waits that long and no longer. RFC 3261, 17.1.2.2, Proceeding. */
  settleAt(waitMs: number): void {
    this.#waitMs = waitMs;
    this.#longestMs = waitMs;
  }

  /** Stops the repeats; the time-out still runs. */
  fallSilent(): void {
    this.#cancelRepeat();
  }

  stop(): void {
    this.#cancelRepeat();
    this.#cancelTimeout();
  }

  #arm(): void {
    this.#cancelRepeat = this.#options.clock.after(this.#waitMs, () => {
      this.#waitMs = Math.min(2 * this.#waitMs, this.#longestMs);
      this.#arm();
      this.#options.resend();
    });
  }
}
