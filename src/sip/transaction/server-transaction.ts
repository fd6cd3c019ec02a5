/** Server side of every request but INVITE. RFC 3261, 17.2.2. */
import type { SipMessage } from '../message/message.ts';
import { doNothing } from '../noop.ts';
import type { Flow } from '../transport/flow.ts';
import type { TransactionTimers } from './timers.ts';
import type {
  ServerTransaction,
  ServerTransactionUser,
  TransactionContext,
} from './transaction.ts';
import { NOBODY, sendCounted, timersOver } from './transaction.ts';

export interface ServerTransactionOptions {
  readonly context: TransactionContext;
  /** Where the answers go. */
  readonly flow: Flow;
  readonly key: string;
  readonly merge?: string | undefined;
  /** One for all transactions: a busy server has hundreds of thousands that are only kept for repeats. */
  readonly onOver: (transaction: ServerTransaction) => void;
}

/**
 * Keeps nothing but its last response, as octets: a busy server has thousands of these waiting.
 *
 * ```
 * trying ──1xx──► proceeding ──final──► completed ──J──► terminated
 * ```
 */
export class NonInviteServerTransaction implements ServerTransaction {
  readonly key: string;
  readonly merge: string | undefined;
  user: ServerTransactionUser = NOBODY;
  readonly #context: TransactionContext;
  readonly #flow: Flow;
  readonly #timers: TransactionTimers;
  readonly #onOver: (transaction: ServerTransaction) => void;
  #isOver = false;
  #lastStatus = 0;
  #lastBytes: Buffer | undefined;
  #cancelTimer: () => void = doNothing;

  constructor(options: ServerTransactionOptions) {
    this.#context = options.context;
    this.#flow = options.flow;
    this.#timers = timersOver(options.flow, options.context);
    this.key = options.key;
    this.merge = options.merge;
    this.#onOver = options.onOver;
  }

  get lastStatus(): number {
    return this.#lastStatus;
  }

  delivered(): void {
    if (this.#lastStatus >= 200) return;
    // An application that never answers must not keep it for ever: the peer gives up at timer F.
    this.#cancelTimer = this.#context.clock.after(2 * this.#timers.fMs, () => this.abort());
  }

  receive(): void {
    this.#context.stats.counts.retransmissionsIn += 1;
    this.repeat();
  }

  respond(response: SipMessage): void {
    if (this.#isOver || this.#lastStatus >= 200) return;
    this.#lastStatus = response.status;
    this.#lastBytes = response.toBuffer();
    sendCounted(this.#context, this.#flow, this.#lastBytes, false);
    if (response.status < 200) return;
    this.user = NOBODY;
    this.#cancelTimer();
    // Nothing will cancel this one, so it keeps nothing to cancel it by.
    if (this.#timers.jMs === 0) this.abort();
    else this.#context.endAfter(this.#timers.jMs, this);
  }

  repeat(): void {
    if (this.#lastBytes !== undefined) {
      sendCounted(this.#context, this.#flow, this.#lastBytes, true);
    }
  }

  /** Nobody acknowledges its answer. */
  acknowledged(): void {}

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#lastBytes = undefined;
    this.#onOver(this);
  }
}
