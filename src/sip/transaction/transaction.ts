/** What the four kinds of transaction have in common: their surroundings and their faces. */
import type { Clock } from '../../lib/clock.ts';
import type { EngineStats } from '../engine-stats.ts';
import type { SipMessage } from '../message/message.ts';
import { SipError } from '../message/sip-error.ts';
import type { Flow } from '../transport/flow.ts';
import type { TimerTables, TransactionTimers } from './timers.ts';
import type { Ending } from './wait-line.ts';

/** What every transaction is given. */
export interface TransactionContext {
  readonly clock: Clock;
  readonly timers: TimerTables;
  readonly stats: EngineStats;
  /** Aborts the transaction after that long, come what may: this is how most of them end. */
  readonly endAfter: (waitMs: number, transaction: Ending) => void;
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
export const NOBODY: ServerTransactionUser = {};

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
