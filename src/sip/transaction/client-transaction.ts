/** Client transactions: of INVITE (RFC 3261, 17.1.1, with the Accepted state of RFC 6026) and of all other requests (17.1.2). */
import { SipMessage } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import { Retransmitter, type TransactionTimers } from './timers.ts';
import {
  type ClientTransactionUser,
  sendCounted,
  type TransactionContext,
  timersOver,
} from './transaction.ts';

interface ClientTransactionOptions {
  readonly context: TransactionContext;
  readonly flow: Flow;
  /** With our Via on top. */
  readonly request: SipMessage;
  readonly user: ClientTransactionUser;
  readonly onOver: () => void;
}

/**
 * ```
 * INVITE   calling ──1xx──► proceeding ──2xx──► accepted ──M──► terminated
 *             │                  └──≥300──► completed ──D──► terminated   (ACK at each ≥300)
 * other    calling ──1xx──► proceeding ──final──► completed ──K──► terminated
 *
 * Final responses in calling: likewise. Timer B or F, or a closed flow: terminated at once.
 * ```
 */
export class ClientTransaction {
  readonly #options: ClientTransactionOptions;
  readonly #timers: TransactionTimers;
  readonly #isInvite: boolean;
  #state: 'calling' | 'proceeding' | 'accepted' | 'completed' | 'terminated' = 'calling';
  #ackBytes: Buffer | undefined;
  #repeater: Retransmitter | undefined;
  #cancelTimer: () => void = () => undefined;
  #forgetFlow: () => void = () => undefined;

  constructor(options: ClientTransactionOptions) {
    this.#options = options;
    this.#timers = timersOver(options.flow, options.context);
    this.#isInvite = options.request.method === 'INVITE';
  }

  get isOver(): boolean {
    return this.#state === 'terminated';
  }

  start(): void {
    const { context, request } = this.#options;
    const { aMs, eMs, t2Ms } = this.#timers;
    const bytes = request.toBuffer();
    if (!this.#send(bytes, false)) {
      this.abort();
      return;
    }
    this.#awaitResponse();
    const firstMs = this.#isInvite ? aMs : eMs;
    if (firstMs === 0) return;
    this.#repeater = new Retransmitter({
      clock: context.clock,
      firstMs,
      longestMs: this.#isInvite ? Number.POSITIVE_INFINITY : t2Ms,
      resend: () => {
        if (!this.#send(bytes, true)) this.abort();
      },
    });
  }

  /** Continues the INVITE of an earlier process, instead of `start`: sends nothing but ACK. */
  resume(): void {
    this.#state = 'proceeding';
    this.#awaitResponse();
  }

  receive(response: SipMessage): void {
    const { context, user } = this.#options;
    switch (this.#state) {
      case 'calling':
      case 'proceeding':
        this.#advance(response);
        user.onResponse(response);
        break;
      case 'accepted':
        if (response.status >= 200 && response.status < 300) user.onResponse(response);
        break;
      case 'completed':
        context.stats.counts.retransmissionsIn += 1;
        if (response.status >= 300) this.#acknowledge(true);
        break;
      case 'terminated':
        break;
      default:
        this.#state satisfies never;
    }
  }

  /** Terminates without sending; the user of a pending request gets `onTransportError`. */
  abort(): void {
    const isPending = this.#state === 'calling' || this.#state === 'proceeding';
    this.#terminate();
    if (isPending) this.#options.user.onTransportError();
  }

  #awaitResponse(): void {
    const { context, flow, user } = this.#options;
    const { bMs, fMs } = this.#timers;
    this.#forgetFlow = flow.onClosed(() => this.abort());
    this.#cancelTimer = context.clock.after(this.#isInvite ? bMs : fMs, () => {
      this.#terminate();
      user.onTimeout();
    });
  }

  #advance(response: SipMessage): void {
    if (response.status >= 200) this.#complete(response);
    else {
      this.#state = 'proceeding';
      if (this.#isInvite) this.#stopTimers();
      else this.#repeater?.settleAt(this.#timers.t2Ms);
    }
  }

  #complete(response: SipMessage): void {
    const { mMs, dMs, kMs } = this.#timers;
    this.#stopTimers();
    this.#forgetFlow();
    if (this.#isInvite && response.status < 300) {
      this.#state = 'accepted';
      this.#endAfter(mMs);
      return;
    }
    this.#state = 'completed';
    if (this.#isInvite) this.#ackBytes = ackOfRefusal(this.#options.request, response).toBuffer();
    this.#acknowledge(false);
    this.#endAfter(this.#isInvite ? dMs : kMs);
  }

  #acknowledge(isRepeat: boolean): void {
    if (this.#ackBytes !== undefined) this.#send(this.#ackBytes, isRepeat);
  }

  #send(bytes: Buffer, isRepeat: boolean): boolean {
    return sendCounted(this.#options.context, this.#options.flow, bytes, isRepeat);
  }

  #endAfter(waitMs: number): void {
    if (waitMs === 0) this.#terminate();
    else this.#cancelTimer = this.#options.context.clock.after(waitMs, () => this.#terminate());
  }

  #stopTimers(): void {
    this.#repeater?.stop();
    this.#cancelTimer();
  }

  #terminate(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#stopTimers();
    this.#forgetFlow();
    this.#options.onOver();
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
