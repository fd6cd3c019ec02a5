/** Sends a request until a final response: resolves targets, fails over to the next, answers challenges. */
import { BoundedMap } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';
import type { DigestClient } from './digest.ts';
import { type EngineStats, sendCounted } from './engine-stats.ts';
import { makeResponse, type SipMessage } from './message/message.ts';
import { SipError } from './message/status.ts';
import { parseUri } from './message/uri.ts';
import { contactOf, type Tokens, userOf } from './own-messages.ts';
import {
  type ClientTransaction,
  requestOfSameTransaction,
} from './transaction/client-transaction.ts';
import type { TransactionLayer } from './transaction/transaction-layer.ts';
import {
  type Endpoint,
  type Flow,
  formatEndpoint,
  ownVia,
  seenAddressOf,
} from './transport/flow.ts';
import { nextHopUri, type Target } from './transport/next-hop.ts';
import type { TransportLayer } from './transport/transport-layer.ts';

/** Where a request goes. */
interface Way {
  /** Preferred flow while it is open. */
  readonly flow?: Flow | undefined;
  /** URI of the next hop; that of the first Route, or the Request-URI, when not given. */
  readonly nextHop?: string | undefined;
  /** Used where the next hop has no address that a flow can be opened to. */
  readonly lastResort?: Flow | undefined;
}

/** Options of one request: authentication, its way, callbacks. */
export interface SendOptions extends Way {
  /** Answers 401 and 407. */
  readonly digest?: DigestClient | undefined;
  /** Number of the next request of the dialog; without it the request's own is counted up. */
  readonly nextSequence?: (() => number) | undefined;
  /** User part of Contact, for a request without one; default: that of From. */
  readonly contactUser?: string | undefined;
  /** Leaves Contact out. */
  readonly withoutContact?: boolean | undefined;
  /**
   * When aborted, the request is not sent again, neither as a retransmission, nor to another target, nor in answer to a
   * challenge. Responses to sent requests still arrive.
   */
  readonly unwanted?: AbortSignal | undefined;
  readonly onSent?: ((request: SipMessage, flow: Flow) => void) | undefined;
  readonly onProvisional?: ((response: SipMessage) => void) | undefined;
  /** A 2xx to INVITE after the first: a retransmission, or of another fork. */
  readonly onLaterSuccess?: ((response: SipMessage) => void) | undefined;
}

/** Final response, with the request as last sent. */
export interface Reply {
  readonly response: SipMessage;
  /** Request as last sent. */
  readonly request: SipMessage;
  /** Null when the request could not be sent. */
  readonly flow: Flow | null;
  /** True when the response was made here, for want of one from a peer. */
  readonly isLocal: boolean;
}

/** An ACK as sent, for retransmission. */
export interface SentAck {
  readonly request: SipMessage;
  readonly bytes: Buffer;
  readonly flow: Flow;
}

interface RequestSenderOptions {
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly stats: EngineStats;
  readonly transport: TransportLayer;
  readonly transactions: TransactionLayer;
  /** Called with the peer's address and ours as it saw it, for each answer to REGISTER and OPTIONS that tells. */
  readonly onSeen?: ((farEnd: string, address: string) => void) | undefined;
}

/** Longer requests must not go by UDP when the path MTU is unknown. RFC 3261, 18.1.1. */
const UDP_REQUEST_BYTES_MAX = 1300;

/** Room for the Via and Contact that a request will get. */
const OWN_LINES_BYTES = 200;

/** Proxy and server may both challenge, and each nonce may turn out to be stale. */
const TRIES_MAX = 5;

const WITHOUT_CONTACT = new Set(['BYE', 'CANCEL', 'ACK', 'PRACK', 'INFO', 'MESSAGE']);

/** Requests to proxies themselves, which are asked again and again. */
const TELLING = new Set(['REGISTER', 'OPTIONS']);

/** Sends requests over the targets of RFC 3263 and retries after challenges. */
export class RequestSender {
  readonly #options: RequestSenderOptions;
  readonly #refusedTcp: RefusedPeers;
  #isStopped = false;

  constructor(options: RequestSenderOptions) {
    this.#options = options;
    this.#refusedTcp = new RefusedPeers(options.clock);
  }

  /** Resolves with the final response; never rejects for network errors. */
  async send(request: SipMessage, options: SendOptions): Promise<Reply> {
    let attempt = request;
    let { flow } = options;
    for (let tries = 1; ; tries++) {
      const reply = await this.#sendOnce(attempt, { ...options, flow });
      const isChallenge = reply.response.status === 401 || reply.response.status === 407;
      const isWanted = options.unwanted?.aborted !== true;
      const mayRetry = isWanted && isChallenge && tries < TRIES_MAX && !reply.isLocal;
      if (!mayRetry || options.digest?.accept(reply.response, reply.request) !== true) return reply;
      // Another server of the same name may not know the nonce.
      flow = reply.flow ?? flow;
      const sequence = options.nextSequence?.() ?? attempt.cseq.seq + 1;
      attempt = attempt.clone().set('cseq', `${sequence} ${attempt.method}`);
    }
  }

  /** Sends the ACK of a 2xx, which has no transaction; null when the peer is unreachable. */
  async sendAck(ack: SipMessage, way: Way): Promise<SentAck | null> {
    for await (const flow of this.#flows(ack, way)) {
      const request = this.#onFlow(ack, flow);
      const bytes = request.toBuffer();
      sendCounted(this.#options.stats, flow, bytes, false);
      return { request, bytes, flow };
    }
    return null;
  }

  /** Sends CANCEL for an INVITE, over the same flow. */
  cancel(invite: SipMessage, flow: Flow): void {
    const cancel = requestOfSameTransaction(invite, 'CANCEL');
    this.#options.transactions.send(cancel, flow, {
      onResponse: () => undefined,
      onTimeout: () => undefined,
      onTransportError: () => undefined,
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #sendOnce(request: SipMessage, options: SendOptions): Promise<Reply> {
    options.digest?.authorize(request);
    let reply = localReply(request, 503, null);
    for await (const flow of this.#flows(request, options)) {
      if (options.unwanted?.aborted === true) {
        return reply.flow === null ? localReply(request, 487, null) : reply;
      }
      reply = await this.#transact(this.#onFlow(request, flow, options), flow, options);
      // RFC 3263, 4.3: the next place is tried when this one is silent, unreachable or overloaded.
      const isLost =
        reply.response.status === 503 || (reply.isLocal && reply.response.status === 408);
      if (!isLost) break;
    }
    return reply;
  }

  #transact(request: SipMessage, flow: Flow, options: SendOptions): Promise<Reply> {
    const { unwanted } = options;
    return new Promise((resolve) => {
      let isAnswered = false;
      const stopRepeating = () => transaction?.stopRepeating();
      const finish = (response: SipMessage, isLocal: boolean) => {
        isAnswered = true;
        unwanted?.removeEventListener('abort', stopRepeating);
        resolve({ response, request, flow, isLocal });
      };
      options.onSent?.(request, flow);
      // Undefined in a callback of `send` itself, as for a closed flow.
      let transaction: ClientTransaction | undefined;
      unwanted?.addEventListener('abort', stopRepeating);
      transaction = this.#options.transactions.send(request, flow, {
        onResponse: (response) => {
          this.#tellSeen(response, flow);
          if (response.status < 200) options.onProvisional?.(response);
          else if (isAnswered) options.onLaterSuccess?.(response);
          else finish(response, false);
        },
        onTimeout: () => finish(makeResponse(request, 408), true),
        onTransportError: () => finish(makeResponse(request, 503), true),
      });
      if (unwanted?.aborted === true) stopRepeating();
    });
  }

  #tellSeen(response: SipMessage, { remote }: Flow): void {
    const { onSeen } = this.#options;
    if (onSeen === undefined || !TELLING.has(response.cseq.method)) return;
    const address = seenAddressOf(response);
    if (address !== undefined) onSeen(remote.address, address);
  }

  /** Opens the flows one by one; skips those that cannot be opened. */
  async *#flows(request: SipMessage, way: Way): AsyncGenerator<Flow> {
    const { flow: preferred, nextHop = nextHopUri(request), lastResort } = way;
    if (preferred?.isOpen === true) yield preferred;
    let isOpened = false;
    for (const target of await this.#targets(request, nextHop)) {
      if (this.#isStopped) return;
      const flow = await this.#open(target);
      isOpened ||= flow !== undefined;
      if (flow !== undefined && !isSameWay(flow, preferred)) yield flow;
    }
    // A sips URI demands TLS all the way.
    const mayResort = !isOpened && !this.#isStopped && !/^sips:/i.test(nextHop);
    if (mayResort && lastResort?.isOpen === true && lastResort !== preferred) yield lastResort;
  }

  async #targets(request: SipMessage, nextHop: string): Promise<readonly Target[]> {
    const { transport } = this.#options;
    try {
      const targets = await transport.resolve(parseUri(nextHop));
      const mayChange =
        request.toBuffer().length > UDP_REQUEST_BYTES_MAX - OWN_LINES_BYTES &&
        transport.canSendBy('TCP');
      return mayChange ? targets.flatMap((target) => this.#byTcpFirst(target)) : targets;
    } catch (error) {
      if (error instanceof SipError) return [];
      throw error;
    }
  }

  /** TCP first, UDP as the fallback for a peer without TCP. RFC 3261, 18.1.1. */
  #byTcpFirst(target: Target): readonly Target[] {
    if (target.protocol !== 'UDP' || this.#refusedTcp.has(target)) return [target];
    return [{ ...target, protocol: 'TCP' }, target];
  }

  async #open(target: Target): Promise<Flow | undefined> {
    try {
      return await this.#options.transport.flowTo(target);
    } catch (error) {
      if (!(error instanceof SipError)) throw error;
      if (target.protocol === 'TCP') this.#refusedTcp.add(target);
      // A certificate that cannot be verified needs the operator.
      if (target.protocol === 'TLS') this.#options.stats.drop('unsendable', error.message);
      return undefined;
    }
  }

  /** The request as it goes over this flow: with our Via, and a Contact that leads back here. */
  #onFlow(
    request: SipMessage,
    flow: Flow,
    { contactUser, withoutContact = false }: SendOptions = {},
  ): SipMessage {
    const sent = request.clone();
    const mayHave = !withoutContact && !WITHOUT_CONTACT.has(sent.method);
    if (mayHave && sent.get('contact') === undefined) {
      sent.add('contact', contactOf(flow, contactUser ?? userOf(sent.from.uri), sent.uri));
    }
    return sent.prepend('via', ownVia(flow, this.#options.tokens.branch()));
  }
}

/** Whether a request would go the same way again. Flows of UDP are objects without a state, a new one each time. */
function isSameWay(flow: Flow, other: Flow | undefined): boolean {
  if (flow === other || other === undefined) return flow === other;
  const { remote, protocol } = flow;
  const isUdp = protocol === 'UDP' && other.protocol === 'UDP';
  return isUdp && formatEndpoint(remote) === formatEndpoint(other.remote);
}

function localReply(request: SipMessage, status: number, flow: Flow | null): Reply {
  return { response: makeResponse(request, status), request, flow, isLocal: true };
}

const REMEMBERED_MS = 300_000;
const PEERS_MAX = 256;

/** Peers that refused TCP, remembered for five minutes so that long requests to them do not wait again. */
export class RefusedPeers {
  readonly #clock: Clock;
  readonly #untilMs = new BoundedMap<string, number>(PEERS_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(peer: Endpoint): boolean {
    const untilMs = this.#untilMs.get(formatEndpoint(peer));
    return untilMs !== undefined && untilMs > this.#clock.nowMs();
  }

  /** Evicts the oldest entry when full. */
  add(peer: Endpoint): void {
    this.#untilMs.set(formatEndpoint(peer), this.#clock.nowMs() + REMEMBERED_MS);
  }
}
