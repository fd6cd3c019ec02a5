/** Server transactions: of INVITE (RFC 3261, 17.2.1, with the Accepted state of RFC 6026) and of all other requests (17.2.2). */

import type { MessageIds } from '../message/identifiers.ts';
import { makeResponse, type SipMessage } from '../message/message.ts';
import type { Endpoint, Flow } from '../transport/flow.ts';
import { Retransmitter, TRYING_AFTER_MS, type TransactionTimers } from './timers.ts';
import {
  isOrigin,
  NO_USER,
  type ServerTransaction,
  type ServerTransactionUser,
  sendCounted,
  type TransactionContext,
  timersOver,
} from './transaction.ts';

interface ServerTransactionOptions {
  readonly context: TransactionContext;
  /** Flow of the responses. */
  readonly flow: Flow;
  readonly key: string;
  readonly merge?: string | undefined;
  /** Shared by all transactions: a busy server holds hundreds of thousands for retransmissions. */
  readonly onOver: (transaction: ServerTransaction) => void;
}

/**
 * Holds only its last response, as octets: a busy server has thousands of them.
 *
 * ```
 * trying ──1xx──► proceeding ──final──► completed ──J──► terminated
 * ```
 */
export class NonInviteServerTransaction implements ServerTransaction {
  readonly key: string;
  readonly merge: string | undefined;
  user: ServerTransactionUser = NO_USER;
  readonly #context: TransactionContext;
  readonly #flow: Flow;
  readonly #timers: TransactionTimers;
  readonly #onOver: (transaction: ServerTransaction) => void;
  #isOver = false;
  #lastStatus = 0;
  #lastBytes: Buffer | undefined;
  #cancelTimer: () => void = () => undefined;

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
    // An application that never answers must not keep the transaction: the peer gives up at timer F.
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
    this.user = NO_USER;
    this.#cancelTimer();
    if (this.#timers.jMs === 0) this.abort();
    else this.#context.clock.after(this.#timers.jMs, () => this.abort());
  }

  repeat(): void {
    if (this.#lastBytes !== undefined) {
      sendCounted(this.#context, this.#flow, this.#lastBytes, true);
    }
  }

  /** Responses to non-INVITE requests have no ACK. */
  acknowledged(): void {}

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#lastBytes = undefined;
    this.#onOver(this);
  }
}

/**
 * Server transaction of INVITE.
 *
 * The transaction user retransmits a 2xx with `repeat()` until its ACK comes.
 *
 * ```
 * proceeding ──2xx──► accepted ──L──► terminated
 *      └──≥300──► completed ──ACK──► confirmed ──I──► terminated   (H: completed times out)
 * ```
 */
export interface InviteServerTransactionOptions extends ServerTransactionOptions {
  readonly request: SipMessage;
  /** Merge key of the request, inside dialogs too: identifies its CANCEL. */
  readonly origin: string;
}

/** INVITE server transaction. @see RFC 3261 section 17.2.1 */
export class InviteServerTransaction implements ServerTransaction {
  readonly key: string;
  readonly merge: string | undefined;
  user: ServerTransactionUser = NO_USER;
  readonly #context: TransactionContext;
  readonly #flow: Flow;
  readonly #timers: TransactionTimers;
  readonly #onOver: (transaction: ServerTransaction) => void;
  #state: 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated' = 'proceeding';
  #lastStatus = 0;
  #lastBytes: Buffer | undefined;
  #repeater: Retransmitter | undefined;
  #request: SipMessage | undefined;
  readonly #origin: string;
  #cancelTimer: () => void = () => undefined;
  #forgetFlow: () => void;

  constructor(options: InviteServerTransactionOptions) {
    const { context, flow, request } = options;
    this.#context = context;
    this.#flow = flow;
    this.#timers = timersOver(flow, context);
    this.key = options.key;
    this.merge = options.merge;
    this.#onOver = options.onOver;
    this.#request = request;
    this.#origin = options.origin;
    this.#forgetFlow = flow.onClosed(() => this.abort());
  }

  get lastStatus(): number {
    return this.#lastStatus;
  }

  /** Whether a CANCEL has the INVITE's sender: CANCEL is hop by hop, so the source address is the same. */
  isOwnedBy(ids: MessageIds, source: Endpoint): boolean {
    return isOrigin(this.#origin, ids) && this.#flow.remote.address === source.address;
  }

  /** Whether the INVITE can still be taken back. */
  get isProceeding(): boolean {
    return this.#state === 'proceeding';
  }

  get isAccepted(): boolean {
    return this.#state === 'accepted';
  }

  delivered(): void {
    if (this.#lastStatus === 0) {
      this.#cancelTimer = this.#context.clock.after(TRYING_AFTER_MS, () => this.#try());
    } else this.#request = undefined;
  }

  receive(request: SipMessage): void {
    if (request.method === 'ACK') {
      this.#confirm();
      return;
    }
    this.#context.stats.counts.retransmissionsIn += 1;
    if (this.#state === 'proceeding' || this.#state === 'completed') this.repeat();
  }

  respond(response: SipMessage): void {
    if (this.#state !== 'proceeding') return;
    this.#lastStatus = response.status;
    this.#lastBytes = response.toBuffer();
    const isSent = sendCounted(this.#context, this.#flow, this.#lastBytes, false);
    if (response.status >= 300) this.#complete();
    else if (response.status >= 200) this.#accept();
    else if (!isSent) this.abort();
  }

  repeat(): void {
    const mayRepeat = this.#state !== 'confirmed' && this.#state !== 'terminated';
    if (mayRepeat && this.#lastBytes !== undefined) {
      sendCounted(this.#context, this.#flow, this.#lastBytes, true);
    }
  }

  acknowledged(): void {
    if (this.#state === 'accepted') this.#lastBytes = undefined;
  }

  abort(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#stopTimers();
    this.#lastBytes = undefined;
    this.#onOver(this);
    this.user.onFailure?.();
  }

  #try(): void {
    if (this.#lastStatus === 0 && this.#request !== undefined) {
      this.respond(makeResponse(this.#request, 100));
    }
    this.#request = undefined;
  }

  #accept(): void {
    this.#stopTimers();
    this.#state = 'accepted';
    this.user = NO_USER;
    this.#endAfter(this.#timers.lMs);
  }

  #complete(): void {
    this.#stopTimers();
    this.#state = 'completed';
    this.#cancelTimer = this.#context.clock.after(this.#timers.hMs, () => this.abort());
    if (this.#timers.gMs === 0) return;
    this.#repeater = new Retransmitter({
      clock: this.#context.clock,
      firstMs: this.#timers.gMs,
      longestMs: this.#timers.t2Ms,
      resend: () => this.repeat(),
    });
  }

  #confirm(): void {
    if (this.#state !== 'completed') return;
    this.#stopTimers();
    this.#state = 'confirmed';
    this.#lastBytes = undefined;
    this.user = NO_USER;
    if (this.#timers.iMs === 0) this.abort();
    else this.#endAfter(this.#timers.iMs);
  }

  #endAfter(waitMs: number): void {
    this.#context.clock.after(waitMs, () => this.abort());
  }

  #stopTimers(): void {
    this.#request = undefined;
    this.#repeater?.stop();
    this.#repeater = undefined;
    this.#cancelTimer();
    this.#cancelTimer = () => undefined;
    this.#forgetFlow();
  }
}
