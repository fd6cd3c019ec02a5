/** Client transactions: of INVITE (RFC 3261, 17.1.1, with the Accepted state of RFC 6026) and of all other requests (17.1.2). */
import { SipMessage } from '../message/message.ts';
import { doNothing } from '../noop.ts';
import type { Flow } from '../transport/flow.ts';
import { Retransmitter, type TransactionTimers } from './timers.ts';
import {
  type ClientTransaction,
  type ClientTransactionUser,
  sendCounted,
  type TransactionContext,
  timersOver,
} from './transaction.ts';

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

/**
 * ```
 * calling ──1xx──► proceeding ──2xx──► accepted ──M──► terminated
 *    │                  └──≥300──► completed ──D──► terminated   (ACK at each ≥300)
 *    └─ 2xx, ≥300 likewise; B, or a lost flow: terminated at once
 * ```
 */
export class InviteClientTransaction implements ClientTransaction {
  readonly #context: TransactionContext;
  readonly #flow: Flow;
  readonly #timers: TransactionTimers;
  readonly #user: ClientTransactionUser;
  readonly #onOver: () => void;
  readonly #request: SipMessage;
  #state: 'calling' | 'proceeding' | 'accepted' | 'completed' | 'terminated' = 'calling';
  #ackBytes: Buffer | undefined;
  #repeater: Retransmitter | undefined;
  #cancelTimer: () => void = doNothing;
  #forgetFlow: () => void = doNothing;

  constructor(options: ClientTransactionOptions) {
    this.#context = options.context;
    this.#flow = options.flow;
    this.#timers = timersOver(options.flow, options.context);
    this.#user = options.user;
    this.#onOver = options.onOver;
    this.#request = options.request;
  }

  get isOver(): boolean {
    return this.#state === 'terminated';
  }

  start(): void {
    const { clock } = this.#context;
    const bytes = this.#request.toBuffer();
    if (!sendCounted(this.#context, this.#flow, bytes, false)) {
      this.abort();
      return;
    }
    this.#forgetFlow = this.#flow.onClosed(() => this.abort());
    this.#cancelTimer = clock.after(this.#timers.bMs, () => this.#timeOut());
    if (this.#timers.aMs === 0) return;
    this.#repeater = new Retransmitter({
      clock,
      firstMs: this.#timers.aMs,
      longestMs: Number.POSITIVE_INFINITY,
      resend: () => {
        if (!sendCounted(this.#context, this.#flow, bytes, true)) this.abort();
      },
    });
  }

  /** Continues the transaction of an earlier process, instead of `start`: sends nothing but ACK. */
  resume(): void {
    this.#state = 'proceeding';
    this.#forgetFlow = this.#flow.onClosed(() => this.abort());
    this.#cancelTimer = this.#context.clock.after(this.#timers.bMs, () => this.#timeOut());
  }

  receive(response: SipMessage): void {
    switch (this.#state) {
      case 'calling':
      case 'proceeding':
        this.#advance(response);
        break;
      case 'accepted':
        if (response.status >= 200 && response.status < 300) this.#user.onResponse(response);
        break;
      case 'completed':
        this.#context.stats.counts.retransmissionsIn += 1;
        if (response.status >= 300) this.#acknowledge(true);
        break;
      case 'terminated':
        break;
      default:
        this.#state satisfies never;
    }
  }

  abort(): void {
    const isWaiting = this.#state === 'calling' || this.#state === 'proceeding';
    this.#terminate();
    if (isWaiting) this.#user.onTransportError();
  }

  #advance(response: SipMessage): void {
    this.#stopTimers();
    if (response.status < 200) this.#state = 'proceeding';
    else if (response.status < 300) {
      this.#state = 'accepted';
      this.#forgetFlow();
      this.#endAfter(this.#timers.mMs);
    } else this.#complete(response);
    this.#user.onResponse(response);
  }

  #complete(response: SipMessage): void {
    this.#state = 'completed';
    this.#forgetFlow();
    this.#ackBytes = ackOfRefusal(this.#request, response).toBuffer();
    this.#acknowledge(false);
    if (this.#timers.dMs === 0) this.#terminate();
    else this.#endAfter(this.#timers.dMs);
  }

  #acknowledge(isRepeat: boolean): void {
    if (this.#ackBytes !== undefined) {
      sendCounted(this.#context, this.#flow, this.#ackBytes, isRepeat);
    }
  }

  #endAfter(waitMs: number): void {
    this.#cancelTimer = this.#context.clock.after(waitMs, () => this.#terminate());
  }

  #stopTimers(): void {
    this.#repeater?.stop();
    this.#cancelTimer();
  }

  #timeOut(): void {
    this.#terminate();
    this.#user.onTimeout();
  }

  #terminate(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#stopTimers();
    this.#forgetFlow();
    this.#onOver();
  }
}

/** The ACK of a refusal: it belongs to the INVITE's own transaction. RFC 3261, 17.1.1.3. */
function ackOfRefusal(invite: SipMessage, response: SipMessage): SipMessage {
  const ack = requestOfSameTransaction(invite, 'ACK');
  ack.set('to', response.get('to') ?? invite.get('to') ?? '');
  return ack;
}

/** An ACK or CANCEL: same Via, Route, From, To, Call-ID and number as the INVITE. RFC 3261, 9.1. */
export function requestOfSameTransaction(invite: SipMessage, method: 'ACK' | 'CANCEL'): SipMessage {
  const request = new SipMessage();
  request.method = method;
  request.uri = invite.uri;
  const [via] = invite.all('via');
  if (via !== undefined) request.add('via', via);
  for (const route of invite.all('route')) request.add('route', route);
  request.add('max-forwards', 70);
  for (const name of ['from', 'to', 'call-id']) request.add(name, invite.get(name) ?? '');
  return request.add('cseq', `${invite.cseq.seq} ${method}`);
}
