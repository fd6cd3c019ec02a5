/** Client transactions: of INVITE (RFC 3261, 17.1.1, with the Accepted state of RFC 6026) and of all other requests (17.1.2). */
import { sendCounted } from '../engine-stats.ts';
import { SipMessage } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import {
  Retransmitter,
  type TransactionContext,
  type TransactionTimers,
  timersOver,
} from './timers.ts';

/** Sender of a request. Each method but `onResponse` is called at most once. */
export interface ClientTransactionUser {
  /** Provisional and final responses; of an INVITE also repeated and forked 2xx. */
  onResponse(response: SipMessage): void;
  /** No response within 64*T1; the transaction is over. */
  onTimeout(): void;
  /** The flow is closed or cannot send; the transaction is over. */
  onTransportError(): void;
}

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
  #cancelEnd: () => void = () => undefined;
  #forgetFlow: () => void = () => undefined;

  constructor(options: ClientTransactionOptions) {
    this.#options = options;
    this.#timers = timersOver(options.flow, options.context);
    this.#isInvite = options.request.method === 'INVITE';
  }

  start(): void {
    const bytes = this.#options.request.toBuffer();
    if (this.#send(bytes, false)) this.#awaitResponse(bytes);
    else this.abort();
  }

  /** Continues the INVITE of an earlier process, instead of `start`: sends nothing but ACK. */
  resume(): void {
    this.#state = 'proceeding';
    this.#awaitResponse(undefined);
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

  /** Repeats the request no more; responses still arrive. */
  stopRepeating(): void {
    this.#repeater?.fallSilent();
  }

  /** Terminates without sending; the user of a pending request gets `onTransportError`. */
  abort(): void {
    const isPending = this.#state === 'calling' || this.#state === 'proceeding';
    this.#terminate();
    if (isPending) this.#options.user.onTransportError();
  }

  /** @param bytes repeated until a response comes. */
  #awaitResponse(bytes: Buffer | undefined): void {
    const { context, flow, user } = this.#options;
    const { repeatMs, repeatMsMax, patienceMs } = this.#timers;
    this.#forgetFlow = flow.onClosed(() => this.abort());
    this.#repeater = new Retransmitter({
      clock: context.clock,
      firstMs: bytes === undefined ? 0 : repeatMs,
      longestMs: this.#isInvite ? Number.POSITIVE_INFINITY : repeatMsMax,
      resend: () => {
        if (bytes !== undefined && !this.#send(bytes, true)) this.abort();
      },
      patienceMs,
      onTimeout: () => {
        this.#terminate();
        user.onTimeout();
      },
    });
  }

  #advance(response: SipMessage): void {
    if (response.status >= 200) this.#complete(response);
    else {
      this.#state = 'proceeding';
      if (this.#isInvite) this.#repeater?.stop();
      else this.#repeater?.settleAt(this.#timers.repeatMsMax);
    }
  }

  #complete(response: SipMessage): void {
    const { answerMs, patienceMs, swallowMs } = this.#timers;
    this.#repeater?.stop();
    this.#forgetFlow();
    if (this.#isInvite && response.status < 300) {
      this.#state = 'accepted';
      this.#endAfter(patienceMs);
      return;
    }
    this.#state = 'completed';
    if (this.#isInvite) this.#ackBytes = ackOfRefusal(this.#options.request, response).toBuffer();
    this.#acknowledge(false);
    this.#endAfter(this.#isInvite ? answerMs : swallowMs);
  }

  #acknowledge(isRepeat: boolean): void {
    if (this.#ackBytes !== undefined) this.#send(this.#ackBytes, isRepeat);
  }

  #send(bytes: Buffer, isRepeat: boolean): boolean {
    const { context, flow } = this.#options;
    return sendCounted(context.stats, flow, bytes, isRepeat);
  }

  #endAfter(waitMs: number): void {
    if (waitMs === 0) this.#terminate();
    else this.#cancelEnd = this.#options.context.clock.after(waitMs, () => this.#terminate());
  }

  #terminate(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#repeater?.stop();
    this.#cancelEnd();
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
