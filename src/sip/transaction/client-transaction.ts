/** Client side of every request but INVITE. RFC 3261, 17.1.2. */
import type { SipMessage } from '../message/message.ts';
import { doNothing } from '../noop.ts';
import type { Flow } from '../transport/flow.ts';
import { Retransmitter } from './retransmitter.ts';
import type { TransactionTimers } from './timers.ts';
import type {
  ClientTransaction,
  ClientTransactionUser,
  TransactionContext,
} from './transaction.ts';
import { sendCounted, timersOver } from './transaction.ts';

export interface ClientTransactionOptions {
  readonly context: TransactionContext;
  readonly flow: Flow;
  /** With our Via on top. */
  readonly request: SipMessage;
  readonly user: ClientTransactionUser;
  readonly onOver: () => void;
}

/**
 * ```
 * trying ──1xx──► proceeding ──final──► completed ──K──► terminated
 *    └────────────final──────────────────┘   (F, or a lost flow: terminated at once)
 * ```
 */
export class NonInviteClientTransaction implements ClientTransaction {
  readonly #context: TransactionContext;
  readonly #flow: Flow;
  readonly #timers: TransactionTimers;
  readonly #user: ClientTransactionUser;
  readonly #onOver: () => void;
  readonly #bytes: Buffer;
  #state: 'trying' | 'proceeding' | 'completed' | 'terminated' = 'trying';
  #repeater: Retransmitter | undefined;
  #cancelTimer: () => void = doNothing;
  #forgetFlow: () => void = doNothing;

  constructor(options: ClientTransactionOptions) {
    this.#context = options.context;
    this.#flow = options.flow;
    this.#timers = timersOver(options.flow, options.context);
    this.#user = options.user;
    this.#onOver = options.onOver;
    this.#bytes = options.request.toBuffer();
  }

  get isOver(): boolean {
    return this.#state === 'terminated';
  }

  start(): void {
    const { clock } = this.#context;
    if (!sendCounted(this.#context, this.#flow, this.#bytes, false)) {
      this.abort();
      return;
    }
    this.#forgetFlow = this.#flow.onClosed(() => this.abort());
    this.#cancelTimer = clock.after(this.#timers.fMs, () => {
      this.#terminate();
      this.#user.onTimeout();
    });
    if (this.#timers.eMs === 0) return;
    this.#repeater = new Retransmitter({
      clock,
      firstMs: this.#timers.eMs,
      longestMs: this.#timers.t2Ms,
      resend: () => this.#resend(),
    });
  }

  receive(response: SipMessage): void {
    if (this.#state === 'completed' || this.#state === 'terminated') {
      this.#context.stats.counts.retransmissionsIn += 1;
      return;
    }
    if (response.status < 200) {
      this.#state = 'proceeding';
      this.#repeater?.settleAt(this.#timers.t2Ms);
    } else this.#complete();
    this.#user.onResponse(response);
  }

  abort(): void {
    const isWaiting = this.#state === 'trying' || this.#state === 'proceeding';
    this.#terminate();
    if (isWaiting) this.#user.onTransportError();
  }

  #resend(): void {
    if (!sendCounted(this.#context, this.#flow, this.#bytes, true)) this.abort();
  }

  #complete(): void {
    this.#repeater?.stop();
    this.#cancelTimer();
    this.#forgetFlow();
    this.#state = 'completed';
    if (this.#timers.kMs === 0) this.#terminate();
    else this.#cancelTimer = this.#context.clock.after(this.#timers.kMs, () => this.#terminate());
  }

  #terminate(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#repeater?.stop();
    this.#cancelTimer();
    this.#forgetFlow();
    this.#onOver();
  }
}
