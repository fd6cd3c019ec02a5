/** Interfaces of the four kinds of transaction, their shared context, and their keys. RFC 3261, 17. */
import type { Clock } from '../../lib/clock.ts';
import type { EngineStats } from '../engine-stats.ts';
import { BRANCH_COOKIE, type MessageIds } from '../message/identifiers.ts';
import type { SipMessage } from '../message/message.ts';
import { SipError } from '../message/status.ts';
import type { Via } from '../message/via.ts';
import type { Flow } from '../transport/flow.ts';
import type { TimerTables, TransactionTimers } from './timers.ts';

/** What every transaction is given. */
export interface TransactionContext {
  readonly clock: Clock;
  readonly timers: TimerTables;
  readonly stats: EngineStats;
}

/** The timers that hold over this flow. */
export function timersOver(flow: Flow, { timers }: TransactionContext): TransactionTimers {
  return flow.isReliable ? timers.reliable : timers.unreliable;
}

/** Sender of a request. Each method but `onResponse` is called at most once. */
export interface ClientTransactionUser {
  /** Provisional and final responses; of an INVITE also repeated and forked 2xx. */
  onResponse(response: SipMessage): void;
  /** No response within 64*T1; the transaction is over. */
  onTimeout(): void;
  /** The flow is closed or cannot send; the transaction is over. */
  onTransportError(): void;
}

/** Receiver of a request. */
export interface ServerTransactionUser {
  /** The peer took its INVITE back; 200 to the CANCEL has been sent. */
  onCancel?(cancel: SipMessage): void;
  /** It ended before its final response or its ACK: flow lost, no ACK within 64*T1, or stopped. */
  onFailure?(): void;
}

/** User of a transaction that needs no more events. */
export const NO_USER: ServerTransactionUser = {};

/** A server transaction, INVITE or not. */
export interface ServerTransaction {
  /** Key of the transaction. */
  readonly key: string;
  /** Merge key, shared with the same request on another path; undefined inside dialogs. */
  readonly merge: string | undefined;
  /** 0 before the first response. */
  readonly lastStatus: number;
  user: ServerTransactionUser;
  /** The application has the request; starts the wait for its response, if none was sent. */
  delivered(): void;
  /** A repeat of the request, or the ACK of a refusal. */
  receive(request: SipMessage): void;
  /** Sends a response as far as the state allows it; later finals are ignored. */
  respond(response: SipMessage): void;
  /** Retransmits the last response. */
  repeat(): void;
  /** The ACK of the 2xx to INVITE has come, or timed out: it is not retransmitted any more. */
  acknowledged(): void;
  /** Terminates without sending, as on stop and on a closed flow. */
  abort(): void;
}

/** Sends one message of a transaction, counted; false when the flow takes nothing. */
export function sendCounted(
  context: TransactionContext,
  flow: Flow,
  bytes: Buffer,
  isRepeat: boolean,
): boolean {
  try {
    flow.send(bytes);
  } catch (error) {
    if (!(error instanceof SipError)) throw error;
    context.stats.drop('unsendable', error.message);
    return false;
  }
  context.stats.sent(bytes, flow, isRepeat);
  return true;
}

/**
 * Key of the server transaction of a request. ACK and CANCEL use that of the INVITE.
 *
 * Keys outlive their message, so they are joined: concatenated text would keep its pieces, and each piece the whole
 * message, in memory.
 *
 * RFC 2543 peers have no unique branch: their key is made of Call-ID, tags and number.
 *
 * @see RFC 3261 section 17.2.3
 */
export function serverKey(ids: MessageIds, via: Via, method: string): string {
  const branch = via.params.get('branch') ?? '';
  const port = via.port ?? '';
  if (branch.startsWith(BRANCH_COOKIE) && branch.length > BRANCH_COOKIE.length) {
    return [branch, via.host, port, method].join('|');
  }
  return ['2543', ids.callId, ids.fromTag, ids.sequence, via.host, port, method].join('|');
}

/** The client transaction that a response belongs to. @see RFC 3261 section 17.1.3 */
export function clientKey(branch: string, method: string): string {
  return [branch, method].join('|');
}

/** Key that a request shares with the same request on another path. @see RFC 3261 section 8.2.2.2 */
export function mergeKey(ids: MessageIds, { method }: SipMessage): string {
  return [ids.callId, ids.fromTag, ids.sequence, method].join('|');
}

/** Whether a request has the Call-ID and From tag of this merge key, with any number. */
export function isOrigin(key: string, { callId, fromTag }: MessageIds): boolean {
  return key.startsWith([callId, fromTag, ''].join('|'));
}

/** Method of the transaction that an ACK or CANCEL refers to. */
export function transactionMethod(method: string): string {
  return method === 'ACK' ? 'INVITE' : method;
}
