/** Server transactions: of INVITE (RFC 3261, 17.2.1, with the Accepted state of RFC 6026) and of all other requests (17.2.2). */
import { sendCounted } from '../engine-stats.ts';
import { type MessageIds, makeResponse, type SipMessage } from '../message/message.ts';
import type { Endpoint, Flow } from '../transport/flow.ts';
import {
  Retransmitter,
  TRYING_AFTER_MS,
  type TransactionContext,
  type TransactionTimers,
  timersOver,
} from './timers.ts';

/** Receiver of a request. */
export interface ServerTransactionUser {
  /** The peer took its INVITE back; 200 to the CANCEL has been sent. */
  onCancel?(cancel: SipMessage): void;
  /** It ended before its final response or its ACK: flow lost, no ACK within 64*T1, or stopped. */
  onFailure?(): void;
}

/** User of a transaction that needs no more events. */
const NO_USER: ServerTransactionUser = {};

interface ServerTransactionOptions {
  readonly context: TransactionContext;
  /** Flow of the responses. */
  readonly flow: Flow;
  readonly key: string;
  /** Key shared with the same request on another path; undefined inside dialogs. */
  readonly merge?: string | undefined;
  readonly request: SipMessage;
  readonly ids: MessageIds;
  /** Shared by all transactions: a busy server holds hundreds of thousands for retransmissions. */
  readonly onOver: (transaction: ServerTransaction) => void;
}

/**
 * Holds only its last response, as octets: a busy server has thousands of them. The transaction user retransmits a 2xx to
 * INVITE with `repeat()` until its ACK comes.
 *
 * ```
 * INVITE   proceeding ──2xx──► accepted ──L──► terminated
 *               └──≥300──► completed ──ACK──► confirmed ──I──► terminated   (H: completed times out)
 * other    proceeding ──final──► completed ──J──► terminated
 * ```
 */
export class ServerTransaction {
  readonly key: string;
  readonly merge: string | undefined;
  user: ServerTransactionUser = NO_USER;
  readonly isInvite: boolean;
  readonly #context: TransactionContext;
  readonly #flow: Flow;
  readonly #timers: TransactionTimers;
  readonly #onOver: (transaction: ServerTransaction) => void;
  /** Call-ID and From tag of an INVITE, which identify its CANCEL. */
  readonly #origin: string;
  #state: 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated' = 'proceeding';
  #lastStatus = 0;
  #lastBytes: Buffer | undefined;
  #repeater: Retransmitter | undefined;
  /** An INVITE that may need 100. */
  #request: SipMessage | undefined;
  #cancelTimer: () => void = () => undefined;
  #forgetFlow: () => void = () => undefined;

  constructor(options: ServerTransactionOptions) {
    const { context, flow, request } = options;
    this.#context = context;
    this.#flow = flow;
    this.#timers = timersOver(flow, context);
    this.key = options.key;
    this.merge = options.merge;
    this.#onOver = options.onOver;
    this.isInvite = request.method === 'INVITE';
    this.#origin = this.isInvite ? originOf(options.ids) : '';
    if (!this.isInvite) return;
    this.#request = request;
    this.#forgetFlow = flow.onClosed(() => this.abort());
  }

  /** 0 before the first response. */
  get lastStatus(): number {
    return this.#lastStatus;
  }

  /** Whether a CANCEL has the INVITE's sender: CANCEL is hop by hop, so the source address is the same. */
  isOwnedBy(ids: MessageIds, source: Endpoint): boolean {
    return this.#origin === originOf(ids) && this.#flow.remote.address === source.address;
  }

  /** Whether there is no final response yet, so that an INVITE can still be taken back. */
  get isProceeding(): boolean {
    return this.#state === 'proceeding';
  }

  get isAccepted(): boolean {
    return this.#state === 'accepted';
  }

  /** The application has the request; starts the wait for its response, if none was sent. */
  delivered(): void {
    if (this.isInvite) {
      if (this.#lastStatus === 0) this.#endAfter(TRYING_AFTER_MS, () => this.#try());
      else this.#request = undefined;
    } else if (this.isProceeding) {
      // An application that never answers must not keep the transaction: the peer gives up at timer F.
      this.#endAfter(2 * this.#timers.patienceMs);
    }
  }

  /** A repeat of the request, or the ACK of a refusal. */
  receive(request: SipMessage): void {
    if (request.method === 'ACK') {
      this.#confirm();
      return;
    }
    this.#context.stats.counts.retransmissionsIn += 1;
    if (this.#state === 'proceeding' || this.#state === 'completed') this.repeat();
  }

  /** Sends a response as far as the state allows it; later finals are ignored. */
  respond(response: SipMessage): void {
    if (this.#state !== 'proceeding') return;
    this.#lastStatus = response.status;
    this.#lastBytes = response.toBuffer();
    const isSent = sendCounted(this.#context.stats, this.#flow, this.#lastBytes, false);
    if (response.status >= 200) this.#complete();
    else if (!isSent && this.isInvite) this.abort();
  }

  /** Retransmits the last response. */
  repeat(): void {
    const mayRepeat = this.#state !== 'confirmed' && this.#state !== 'terminated';
    if (mayRepeat && this.#lastBytes !== undefined) {
      sendCounted(this.#context.stats, this.#flow, this.#lastBytes, true);
    }
  }

  /** The ACK of the 2xx to INVITE has come, or timed out: it is not retransmitted any more. */
  acknowledged(): void {
    if (this.#state === 'accepted') this.#lastBytes = undefined;
  }

  /** Terminates without sending, as on stop and on a closed flow. */
  abort(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#stopTimers();
    this.#lastBytes = undefined;
    this.#onOver(this);
    if (this.isInvite) this.user.onFailure?.();
  }

  #try(): void {
    if (this.#lastStatus === 0 && this.#request !== undefined) {
      this.respond(makeResponse(this.#request, 100));
    }
    this.#request = undefined;
  }

  #complete(): void {
    const { answerMs, patienceMs, repeatMs, repeatMsMax } = this.#timers;
    this.#stopTimers();
    const isRefusal = this.isInvite && this.#lastStatus >= 300;
    this.#state = this.isInvite && !isRefusal ? 'accepted' : 'completed';
    if (!isRefusal) {
      this.user = NO_USER;
      this.#endAfter(this.isInvite ? patienceMs : answerMs);
      return;
    }
    this.#repeater = new Retransmitter({
      clock: this.#context.clock,
      firstMs: repeatMs,
      longestMs: repeatMsMax,
      resend: () => this.repeat(),
      patienceMs,
      onTimeout: () => this.abort(),
    });
  }

  #confirm(): void {
    if (!this.isInvite || this.#state !== 'completed') return;
    this.#stopTimers();
    this.#state = 'confirmed';
    this.#lastBytes = undefined;
    this.user = NO_USER;
    this.#endAfter(this.#timers.swallowMs);
  }

  #endAfter(waitMs: number, end = () => this.abort()): void {
    if (waitMs === 0) end();
    else this.#cancelTimer = this.#context.clock.after(waitMs, end);
  }

  #stopTimers(): void {
    this.#request = undefined;
    this.#repeater?.stop();
    this.#repeater = undefined;
    this.#cancelTimer();
    this.#forgetFlow();
  }
}

/** Joined, because the pieces would keep their whole message in memory. */
function originOf({ callId, fromTag }: MessageIds): string {
  return [callId, fromTag].join('|');
}
