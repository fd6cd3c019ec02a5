/** What the four kinds of transaction have in common: their surroundings and their faces. */
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

/** Whoever sent a request and wants its answers. Each is called at most once, but `onResponse`. */
export interface ClientTransactionUser {
  /** Provisional and final responses; of an INVITE also repeated and forked 2xx. */
  onResponse(response: SipMessage): void;
  /** Nothing came within 64*T1; the transaction is over. */
  onTimeout(): void;
  /** The flow is gone or takes nothing; the transaction is over. */
  onTransportError(): void;
}

export interface ClientTransaction {
  readonly isOver: boolean;
  start(): void;
  receive(response: SipMessage): void;
  /** Ends it without a word, as a stop does; its user is told of a transport error. */
  abort(): void;
}

/** Whoever answers a request. */
export interface ServerTransactionUser {
  /** The peer took its INVITE back; 200 to the CANCEL has been sent. */
  onCancel?(cancel: SipMessage): void;
  /** It ended before its final response or its ACK: flow lost, no ACK within 64*T1, or stopped. */
  onFailure?(): void;
}

/** A user that wants to be told nothing more. */
export const NO_USER: ServerTransactionUser = {};

export interface ServerTransaction {
  /** What it is found by. */
  readonly key: string;
  /** What the same request has that came another way; undefined inside dialogs. */
  readonly merge: string | undefined;
  /** 0 before the first response. */
  readonly lastStatus: number;
  user: ServerTransactionUser;
  /** Whoever serves the request has it now; starts to wait for a response where there is none yet. */
  delivered(): void;
  /** A repeat of the request, or the ACK of a refusal. */
  receive(request: SipMessage): void;
  /** Sends a response as far as the state allows it; later finals are ignored. */
  respond(response: SipMessage): void;
  /** Sends the last response again. */
  repeat(): void;
  /** The ACK of its 2xx to INVITE is there, or is given up: there is nothing left to repeat. */
  acknowledged(): void;
  /** Ends it without a word, as a stop and a lost flow do. */
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
 * The server transaction that a request belongs to. ACK and CANCEL name the INVITE's.
 *
 * Keys outlive their message, so they are joined: text put together by `+` or a template holds on to its pieces, and
 * each piece to the whole message.
 *
 * Peers of RFC 2543 make no unique branch: theirs is told apart by call, tags and number.
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

/** What a request has in common with one that came another way. @see RFC 3261 section 8.2.2.2 */
export function mergeKey(ids: MessageIds, { method }: SipMessage): string {
  return [ids.callId, ids.fromTag, ids.sequence, method].join('|');
}

/** Whether a request is of the call, and from the side, that this merge key was made for, whatever its number. */
export function isOrigin(key: string, { callId, fromTag }: MessageIds): boolean {
  return key.startsWith([callId, fromTag, ''].join('|'));
}

/** The method whose transaction an ACK or CANCEL speaks of. */
export function transactionMethod(method: string): string {
  return method === 'ACK' ? 'INVITE' : method;
}
