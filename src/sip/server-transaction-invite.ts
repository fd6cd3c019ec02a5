/** Server side of INVITE. RFC 3261, 17.2.1, with the Accepted state of RFC 6026. */
import type { Flow } from './flow.ts';
import type { SipMessage } from './message.ts';
import { makeResponse } from './response.ts';
import { Retransmitter } from './retransmitter.ts';
import type { ServerTransactionOptions } from './server-transaction.ts';
import type { TransactionTimers } from './timers.ts';
import { TRYING_AFTER_MS, transactionTimers } from './timers.ts';
import type {
  ServerTransaction,
  ServerTransactionUser,
  TransactionContext,
} from './transaction.ts';
import { sendCounted } from './transaction.ts';

/**
 * A 2xx is repeated by whoever accepted, with `repeat()`, until its ACK comes to them.
 *
 * ```
 * proceeding ──2xx──► accepted ──L──► terminated
 *      └──≥300──► completed ──ACK──► confirmed ──I──► terminated   (H: completed is given up)
 * ```
 */
export class InviteServerTransaction implements ServerTransaction {
  user: ServerTransactionUser = {};
  readonly #context: TransactionContext;
  readonly #flow: Flow;
  readonly #timers: TransactionTimers;
  readonly #onOver: () => void;
  #state: 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated' = 'proceeding';
  #lastStatus = 0;
  #lastBytes: Buffer | undefined;
  #repeater: Retransmitter | undefined;
  #cancelTimer: () => void;
  #forgetFlow: () => void;

  constructor(options: ServerTransactionOptions & { readonly request: SipMessage }) {
    const { context, flow, request } = options;
    this.#context = context;
    this.#flow = flow;
    this.#timers = transactionTimers(context.timers, flow.isReliable);
    this.#onOver = options.onOver;
    this.#cancelTimer = context.clock.after(TRYING_AFTER_MS, () => {
      if (this.#lastStatus === 0) this.respond(makeResponse(request, 100));
    });
    this.#forgetFlow = flow.onClosed(() => this.abort());
  }

  get lastStatus(): number {
    return this.#lastStatus;
  }

  /** Whether the INVITE can still be taken back. */
  get isProceeding(): boolean {
    return this.#state === 'proceeding';
  }

  get isAccepted(): boolean {
    return this.#state === 'accepted';
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

  abort(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#stopTimers();
    this.#lastBytes = undefined;
    this.#onOver();
    this.user.onFailure?.();
  }

  #accept(): void {
    this.#stopTimers();
    this.#state = 'accepted';
    this.user = {};
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
    this.user = {};
    if (this.#timers.iMs === 0) this.abort();
    else this.#endAfter(this.#timers.iMs);
  }

  #endAfter(waitMs: number): void {
    this.#cancelTimer = this.#context.clock.after(waitMs, () => this.abort());
  }

  #stopTimers(): void {
    this.#repeater?.stop();
    this.#cancelTimer();
    this.#forgetFlow();
  }
}
