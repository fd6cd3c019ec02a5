/** Brings every message to its transaction, makes new ones, and keeps their number bounded. */
import type { Logger } from '../lib/logger.ts';
import { NonInviteClientTransaction } from './client-transaction.ts';
import { InviteClientTransaction } from './client-transaction-invite.ts';
import type { Flow } from './flow.ts';
import type { SipMessage } from './message.ts';
import { makeResponse } from './response.ts';
import { NonInviteServerTransaction } from './server-transaction.ts';
import { InviteServerTransaction } from './server-transaction-invite.ts';
import type { Tokens } from './tokens.ts';
import type {
  ClientTransaction,
  ClientTransactionUser,
  ServerTransaction,
  TransactionContext,
} from './transaction.ts';
import { clientKey, mergeKey, serverKey, transactionMethod } from './transaction-key.ts';
import type { TransportLayer } from './transport-layer.ts';
import type { Via } from './via.ts';

/** A request that belongs to no transaction yet, with the one made for it. */
export interface Arrival {
  readonly request: SipMessage;
  /** Where it came from. */
  readonly flow: Flow;
  readonly transaction: ServerTransaction;
}

export interface TransactionLayerOptions {
  readonly context: TransactionContext;
  readonly transport: Pick<TransportLayer, 'responseFlow' | 'replyStateless'>;
  readonly tokens: Tokens;
  readonly logger: Logger;
  /** More live transactions than that, and new requests get 503. */
  readonly transactionsMax: number;
  readonly onRequest: (arrival: Arrival) => void;
  /** An ACK of a 2xx; returns whether anyone was waiting for it. */
  readonly onAck: (ack: SipMessage, flow: Flow) => boolean;
}

/** What a CANCEL has to know of the INVITE it names. */
interface InviteRecord {
  readonly transaction: InviteServerTransaction;
  readonly callId: string;
  readonly fromTag: string;
  readonly sourceAddress: string;
}

interface Received {
  readonly request: SipMessage;
  readonly via: Via;
  readonly flow: Flow;
  /** Of its transaction. */
  readonly key: string;
  /** Of the same request on other ways. */
  readonly merge: string;
}

/** A caller turned away for load should not be back at once. RFC 3261, 21.5.4. */
export const RETRY_AFTER_SECONDS = 5;

export class TransactionLayer {
  readonly #options: TransactionLayerOptions;
  readonly #servers = new Map<string, ServerTransaction>();
  readonly #invites = new Map<string, InviteRecord>();
  readonly #clients = new Map<string, ClientTransaction>();
  readonly #merged = new Map<string, string>();

  constructor(options: TransactionLayerOptions) {
    this.#options = options;
  }

  /** Live transactions of both sides. */
  get size(): number {
    return this.#servers.size + this.#clients.size;
  }

  /** Sends a request, our Via already on top, and tells `user` what comes of it. */
  send(request: SipMessage, flow: Flow, user: ClientTransactionUser): ClientTransaction {
    const key = clientKey(request.via.params.get('branch') ?? '', request.method);
    const options = {
      context: this.#options.context,
      flow,
      request,
      user,
      onOver: () => this.#clients.delete(key),
    };
    const transaction =
      request.method === 'INVITE'
        ? new InviteClientTransaction(options)
        : new NonInviteClientTransaction(options);
    this.#clients.set(key, transaction);
    transaction.start();
    return transaction;
  }

  receiveResponse(response: SipMessage, via: Via): void {
    const branch = via.params.get('branch') ?? '';
    const transaction = this.#clients.get(clientKey(branch, response.cseq.method));
    if (transaction === undefined || response.list('via').length !== 1) {
      this.#options.context.stats.drop('stray-response');
    } else this.#guard(() => transaction.receive(response));
  }

  receiveRequest(request: SipMessage, via: Via, flow: Flow): void {
    const method = transactionMethod(request.method);
    const key = serverKey(request, via, method);
    const known = this.#servers.get(key);
    if (known !== undefined && !isAckOfAccepted(request, known)) {
      known.receive(request);
    } else if (request.method === 'ACK') {
      this.#guard(() => {
        if (!this.#options.onAck(request, flow)) this.#options.context.stats.drop('stray-ack');
      });
    } else this.#open(request, via, flow, key);
  }

  /** Ends every transaction; those who wait are told of a transport error. */
  stop(): void {
    for (const transaction of [...this.#servers.values()]) transaction.abort();
    for (const transaction of [...this.#clients.values()]) transaction.abort();
  }

  #open(request: SipMessage, via: Via, flow: Flow, key: string): void {
    const { transport, transactionsMax } = this.#options;
    if (this.size >= transactionsMax) {
      const headers = [['retry-after', String(RETRY_AFTER_SECONDS)]] as const;
      transport.replyStateless(request, via, flow, { status: 503, headers });
      return;
    }
    const merge = mergeKey(request);
    const transaction = this.#makeServer({ request, via, flow, key, merge });
    if (request.method === 'CANCEL') this.#cancel(request, via, flow, transaction);
    else if (request.toTag === '' && this.#isMerged(merge, key))
      this.#reject(request, transaction, 482);
    else this.#deliver({ request, flow, transaction });
  }

  #makeServer(received: Received): ServerTransaction {
    const { request, via, flow, key, merge } = received;
    const options = {
      context: this.#options.context,
      flow: this.#options.transport.responseFlow(via, flow),
      request,
      onOver: () => {
        this.#servers.delete(key);
        this.#invites.delete(key);
        if (this.#merged.get(merge) === key) this.#merged.delete(merge);
      },
    };
    if (request.method !== 'INVITE') {
      const transaction = new NonInviteServerTransaction(options);
      this.#servers.set(key, transaction);
      return transaction;
    }
    const transaction = new InviteServerTransaction(options);
    this.#servers.set(key, transaction);
    this.#invites.set(key, {
      transaction,
      callId: request.callId,
      fromTag: request.fromTag,
      sourceAddress: flow.remote.address,
    });
    return transaction;
  }

  /** RFC 3261, 8.2.2.2: the same request that came by another way, through a forking proxy. */
  #isMerged(merge: string, key: string): boolean {
    const known = this.#merged.get(merge);
    if (known === undefined) this.#merged.set(merge, key);
    return known !== undefined && known !== key;
  }

  /** RFC 3261, 9.2. A CANCEL goes hop by hop, so it comes from where its INVITE came from. */
  #cancel(request: SipMessage, via: Via, flow: Flow, transaction: ServerTransaction): void {
    const invite = this.#invites.get(serverKey(request, via, 'INVITE'));
    const isOwner =
      invite !== undefined &&
      invite.callId === request.callId &&
      invite.fromTag === request.fromTag &&
      invite.sourceAddress === flow.remote.address;
    if (!isOwner) {
      this.#reject(request, transaction, 481);
      return;
    }
    transaction.respond(makeResponse(request, 200, undefined, this.#options.tokens.tag()));
    if (invite.transaction.isProceeding) {
      this.#guard(() => invite.transaction.user.onCancel?.(request));
    }
  }

  #reject(request: SipMessage, transaction: ServerTransaction, status: number): void {
    this.#options.context.stats.reject(status);
    transaction.respond(makeResponse(request, status, undefined, this.#options.tokens.tag()));
  }

  #deliver(arrival: Arrival): void {
    const isServed = this.#guard(() => this.#options.onRequest(arrival));
    const { request, transaction } = arrival;
    if (!isServed && transaction.lastStatus < 200) this.#reject(request, transaction, 500);
  }

  /** A fault in whoever listens must not take the socket, and every other call, with it. */
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

/** The ACK of a 2xx has a branch of its own, save from RFC 2543 peers: theirs looks like the INVITE. */
function isAckOfAccepted(request: SipMessage, known: ServerTransaction): boolean {
  return request.method === 'ACK' && known instanceof InviteServerTransaction && known.isAccepted;
}
