/** Brings every message to its transaction, makes new ones, and keeps their number bounded. */

import type { Logger } from '../../lib/logger.ts';
import {
  BRANCH_COOKIE,
  idsOf,
  type MessageIds,
  makeResponse,
  type SipMessage,
  type Via,
} from '../message/message.ts';
import type { Tokens } from '../own-messages.ts';
import type { Flow } from '../transport/flow.ts';
import { makeRefusal, type TransportLayer } from '../transport/transport-layer.ts';
import { ClientTransaction, type ClientTransactionUser } from './client-transaction.ts';
import { ServerTransaction } from './server-transaction.ts';
import type { TransactionContext } from './timers.ts';

/** A request that belongs to no transaction yet, with the one made for it. */
export interface Arrival {
  readonly request: SipMessage;
  readonly ids: MessageIds;
  /** Flow that the request arrived on. */
  readonly flow: Flow;
  readonly transaction: ServerTransaction;
}

interface TransactionLayerOptions {
  readonly context: TransactionContext;
  readonly transport: Pick<TransportLayer, 'responseFlow' | 'replyStateless'>;
  readonly tokens: Tokens;
  readonly logger: Logger;
  /** More live transactions than that, and new requests get 503. */
  readonly transactionsMax: number;
  readonly onRequest: (arrival: Arrival) => void;
  /** Takes the ACK of a 2xx; returns whether a dialog expected it. */
  readonly onAck: (ack: SipMessage, ids: MessageIds) => boolean;
}

interface Received extends Omit<Arrival, 'transaction'> {
  readonly via: Via;
  /** Key of its transaction. */
  readonly key: string;
}

/** All transactions of a user agent, bounded in number. */
export class TransactionLayer {
  readonly #options: TransactionLayerOptions;
  readonly #servers = new Map<string, ServerTransaction>();
  readonly #clients = new Map<string, ClientTransaction>();
  readonly #merged = new Map<string, string>();
  readonly #forget = ({ key, merge }: ServerTransaction): void => {
    this.#servers.delete(key);
    if (merge !== undefined && this.#merged.get(merge) === key) this.#merged.delete(merge);
  };

  constructor(options: TransactionLayerOptions) {
    this.#options = options;
  }

  /** Live transactions of both sides. */
  get size(): number {
    return this.#servers.size + this.#clients.size;
  }

  /** Sends a request with our Via on top; `user` receives its responses. */
  send(request: SipMessage, flow: Flow, user: ClientTransactionUser): ClientTransaction {
    const transaction = new ClientTransaction(this.#clientOptions(request, flow, user));
    this.#clients.set(keyOf(request), transaction);
    transaction.start();
    return transaction;
  }

  /**
   * Waits for the final response to an INVITE of an earlier process, for 64*T1 at most.
   *
   * @returns false when this process has the transaction; `user` is not called then.
   */
  resume(invite: SipMessage, flow: Flow, user: ClientTransactionUser): boolean {
    const key = keyOf(invite);
    if (this.#clients.get(key) !== undefined) return false;
    const transaction = new ClientTransaction(this.#clientOptions(invite, flow, user));
    this.#clients.set(key, transaction);
    transaction.resume();
    return true;
  }

  /** Refuses an INVITE that an earlier process received; does nothing when this process has the transaction. */
  refuse(invite: SipMessage, flow: Flow, status: number): void {
    const { via } = invite;
    const ids = idsOf(invite);
    const key = serverKey(ids, via, 'INVITE');
    if (this.#servers.has(key)) return;
    const transaction = this.#makeServer({ request: invite, ids, via, flow, key });
    this.#reject(invite, transaction, status);
  }

  /**
   * Whether a request belongs to an existing transaction: a retransmission, an ACK or a CANCEL.
   *
   * @throws {SipError} when a header that identifies it is missing.
   */
  knows(request: SipMessage): boolean {
    const { method, via } = request;
    const ofInvite = method === 'ACK' || method === 'CANCEL';
    return this.#servers.has(serverKey(idsOf(request), via, ofInvite ? 'INVITE' : method));
  }

  receiveResponse(response: SipMessage, via: Via): void {
    const branch = via.params.get('branch') ?? '';
    const transaction = this.#clients.get(clientKey(branch, response.cseq.method));
    if (transaction === undefined || response.list('via').length !== 1) {
      this.#options.context.stats.drop('stray-response');
    } else this.#guard(() => transaction.receive(response));
  }

  receiveRequest(request: SipMessage, via: Via, flow: Flow): void {
    this.#guard(() => this.#receive(request, via, flow));
  }

  /** Terminates every transaction; users of pending ones get `onTransportError`. */
  stop(): void {
    for (const transaction of [...this.#servers.values()]) transaction.abort();
    for (const transaction of [...this.#clients.values()]) transaction.abort();
  }

  #clientOptions(request: SipMessage, flow: Flow, user: ClientTransactionUser) {
    const key = keyOf(request);
    const onOver = () => this.#clients.delete(key);
    return { context: this.#options.context, flow, request, user, onOver };
  }

  #receive(request: SipMessage, via: Via, flow: Flow): void {
    const ids = idsOf(request);
    const { method } = request;
    const key = serverKey(ids, via, method === 'ACK' ? 'INVITE' : method);
    const known = this.#servers.get(key);
    if (known !== undefined && !isAckOfAccepted(request, known)) known.receive(request);
    else if (method !== 'ACK') this.#open({ request, ids, via, flow, key });
    else if (!this.#options.onAck(request, ids)) this.#options.context.stats.drop('stray-ack');
  }

  #open(received: Received): void {
    const { request, ids, via, flow, key } = received;
    const { transport, transactionsMax } = this.#options;
    if (this.size >= transactionsMax) {
      transport.replyStateless(request, via, flow, { status: 503 });
      return;
    }
    const transaction = this.#makeServer(received);
    const { merge } = transaction;
    if (request.method === 'CANCEL') this.#cancel(received, transaction);
    else if (merge !== undefined && this.#isMerged(merge, key)) {
      this.#reject(request, transaction, 482);
    } else this.#deliver({ request, ids, flow, transaction });
  }

  #makeServer({ request, ids, via, flow, key }: Received): ServerTransaction {
    const transaction = new ServerTransaction({
      context: this.#options.context,
      flow: this.#options.transport.responseFlow(via, flow),
      key,
      // Requests inside a dialog are not forked, so they cannot be merged.
      merge: ids.toTag === '' ? mergeKey(ids, request) : undefined,
      request,
      ids,
      onOver: this.#forget,
    });
    this.#servers.set(key, transaction);
    return transaction;
  }

  /** Request that arrived by a second path through a forking proxy. RFC 3261, 8.2.2.2. */
  #isMerged(merge: string, key: string): boolean {
    const known = this.#merged.get(merge);
    if (known === undefined) this.#merged.set(merge, key);
    return known !== undefined && known !== key;
  }

  /** RFC 3261, 9.2. */
  #cancel({ request, ids, via, flow }: Received, transaction: ServerTransaction): void {
    const invite = this.#servers.get(serverKey(ids, via, 'INVITE'));
    if (!invite?.isOwnedBy(ids, flow.remote)) {
      this.#reject(request, transaction, 481);
      return;
    }
    transaction.respond(makeResponse(request, 200, undefined, this.#options.tokens.tag()));
    if (invite.isProceeding) this.#guard(() => invite.user.onCancel?.(request));
  }

  #reject(request: SipMessage, transaction: ServerTransaction, status: number): void {
    this.#options.context.stats.reject(status);
    transaction.respond(makeRefusal(request, this.#options.tokens.tag(), { status }));
  }

  #deliver(arrival: Arrival): void {
    const isServed = this.#guard(() => this.#options.onRequest(arrival));
    const { request, transaction } = arrival;
    if (!isServed && transaction.lastStatus < 200) this.#reject(request, transaction, 500);
    transaction.delivered();
  }

  /** An exception of a listener must not end the socket, and with it all other calls. */
  #guard(deliver: () => void): boolean {
    try {
      deliver();
      return true;
    } catch (error) {
      this.#options.logger.error({ error }, 'SIP message could not be handled');
      return false;
    }
  }
}

/** Key of the client transaction of our request. */
function keyOf(request: SipMessage): string {
  return clientKey(request.via.params.get('branch') ?? '', request.method);
}

/** The client transaction that a response belongs to. @see RFC 3261 section 17.1.3 */
function clientKey(branch: string, method: string): string {
  return [branch, method].join('|');
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
function serverKey(ids: MessageIds, via: Via, method: string): string {
  const branch = via.params.get('branch') ?? '';
  const port = via.port ?? '';
  if (branch.startsWith(BRANCH_COOKIE) && branch.length > BRANCH_COOKIE.length) {
    return [branch, via.host, port, method].join('|');
  }
  return ['2543', ids.callId, ids.fromTag, ids.sequence, via.host, port, method].join('|');
}

/** Key that a request shares with the same request on another path. @see RFC 3261 section 8.2.2.2 */
function mergeKey(ids: MessageIds, { method }: SipMessage): string {
  return [ids.callId, ids.fromTag, ids.sequence, method].join('|');
}

/** The ACK of a 2xx has its own branch, except from RFC 2543 peers: their ACK matches the INVITE's transaction. */
function isAckOfAccepted(request: SipMessage, known: ServerTransaction): boolean {
  return request.method === 'ACK' && known.isAccepted;
}
