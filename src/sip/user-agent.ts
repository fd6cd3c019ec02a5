/** A SIP user agent, server and client in one: the entry point of the engine; ends INVITEs that an earlier process left. */
import { EventEmitter } from 'node:events';
import type { MessageSocket } from '../lib/process/message-socket.ts';
import { ClientForks, ClientInvite } from './client-invite.ts';
import { type Dialog, DialogTable } from './dialog/dialog.ts';
import { addSessionExpires } from './dialog/session-timer.ts';
import { type EngineCounts, EngineStats } from './engine-stats.ts';
import { idsOf, type SipMessage } from './message/message.ts';
import { ifSound } from './message/status.ts';
import { parseUri } from './message/uri.ts';
import {
  newRequest,
  type OutgoingInvite,
  type OutgoingRequest,
  type ServerRequest,
  Tokens,
} from './own-messages.ts';
import { RequestDispatcher } from './request-dispatcher.ts';
import { RequestSender } from './request-sender.ts';
import type { ServerInvite } from './server-invite.ts';
import { TransactionLayer } from './transaction/transaction-layer.ts';
import {
  defaultPortOf,
  type Endpoint,
  type Flow,
  formatEndpoint,
  type Protocol,
} from './transport/flow.ts';
import { FlowKeeper } from './transport/flow-keeper.ts';
import { nextHopUri, serverNameOf, type Target } from './transport/next-hop.ts';
import type { TlsSettings } from './transport/tls-layer.ts';
import { TransportLayer } from './transport/transport-layer.ts';
import {
  type EngineContext,
  type StrangerGuard,
  type UserAgentOptions,
  withDefaults,
} from './user-agent-options.ts';

interface UserAgentEvents {
  /** A new call. Without a listener: 480. */
  invite: [ServerInvite];
  /** REFER, NOTIFY or INFO outside of any dialog. Without a listener: 481. OPTIONS is answered by the engine. */
  request: [ServerRequest];
}

/** Ringing limit of an outgoing call. */
const RING_TIMEOUT_MS = 180_000;

/** `start` it, put listeners on it, and `stop` it. */
export class UserAgent extends EventEmitter<UserAgentEvents> {
  readonly #context: EngineContext;
  readonly #transport: TransportLayer;
  readonly #transactions: TransactionLayer;
  readonly #keeper: FlowKeeper;
  readonly #dialogs = new DialogTable();
  readonly #dispatcher: RequestDispatcher;

  constructor(options: UserAgentOptions) {
    super();
    const settings = withDefaults(options);
    const { clock, logger, product, sessionTimer, timers, trace } = settings;
    const tokens = new Tokens(settings.randomBytes);
    const stats = new EngineStats({ clock, logger, trace });
    this.#transport = new TransportLayer({
      ...settings,
      stats,
      statelessTag: tokens.tag(),
      screen: (request, source, protocol) =>
        settings.screen(request, source, protocol) &&
        this.#mayAsk(request, source.address, options.strangers),
      onRequest: (request, via, flow) => this.#transactions.receiveRequest(request, via, flow),
      onResponse: (response, via) => this.#transactions.receiveResponse(response, via),
    });
    this.#transactions = new TransactionLayer({
      context: { clock, timers, stats },
      transport: this.#transport,
      tokens,
      logger,
      transactionsMax: settings.transactionsMax,
      onRequest: (arrival) => this.#dispatcher.dispatch(arrival),
      onAck: (ack, ids) => this.#dialogs.ofRequest(ids)?.receiveAck(ack, ids.sequence) ?? false,
    });
    const sender = new RequestSender({
      clock,
      tokens,
      stats,
      transport: this.#transport,
      transactions: this.#transactions,
      onSeen: settings.onSeen,
    });
    this.#keeper = new FlowKeeper({
      clock,
      random: Math.random,
      onLost: (callId) => settings.onRegistrationLost?.(callId),
    });
    this.#context = { clock, timers, tokens, stats, logger, sender, product, sessionTimer };
    this.#dispatcher = new RequestDispatcher({
      context: this.#context,
      dialogs: this.#dialogs,
      onInvite: (invite) => this.emit('invite', invite),
      onRequest: (request) => this.emit('request', request),
    });
  }

  /** Listening addresses with the actual ports; only after start. */
  get addresses(): readonly (Endpoint & { readonly protocol: Protocol })[] {
    return this.#transport.listeners.map(({ protocol, bound }) => ({ protocol, ...bound }));
  }

  /** Our address for an unknown far end; undefined without a socket. */
  get ownEndpoint(): Endpoint | undefined {
    return this.#transport.transports[0]?.localFor({ address: '', port: 0 });
  }

  /** Messages in, out, dropped and refused since the start. */
  get counts(): EngineCounts {
    return this.#context.stats.counts;
  }

  /** Live objects; all zero some time after the last call. */
  get sizes(): {
    readonly transactions: number;
    readonly dialogs: number;
    readonly connections: number;
  } {
    return {
      transactions: this.#transactions.size,
      dialogs: this.#dialogs.size,
      connections: this.#transport.connectionCount,
    };
  }

  /**
   * Opens the sockets.
   *
   * @throws {SipError} 503 naming the address and port in use; then no socket stays open.
   */
  async start(): Promise<void> {
    await this.#transport.start();
  }

  /**
   * Closes all transports and settles all promises. Safe to call twice.
   *
   * Sends no BYE: hang up calls first.
   */
  async stop(): Promise<void> {
    this.#keeper.stop();
    this.#context.sender.stop();
    this.#dialogs.stop();
    this.#transactions.stop();
    await this.#transport.stop();
  }

  /** Uses other certificates for new TLS connections; open ones and their calls go on. */
  useTls(settings: TlsSettings): void {
    this.#transport.useTls(settings);
  }

  /** From now on answers OPTIONS and new calls with 503 and Retry-After, so that carriers go elsewhere. */
  drain(): void {
    this.#dispatcher.drain();
  }

  /** Undoes `drain`. */
  resume(): void {
    this.#dispatcher.resume();
  }

  /**
   * Sends a request outside of any dialog and resolves with its final response: a time-out is a 408
   * made here, a peer out of reach a 503. The flow of a REGISTER that is answered with 2xx is kept alive until it expires.
   *
   * @throws {SipError} 400 when From is no address.
   * @throws {TypeError} when a part is not allowed in a message; INVITE goes by {@link invite}.
   */
  async request(options: OutgoingRequest): Promise<SipMessage> {
    if (options.method === 'INVITE') throw new TypeError('Cannot request INVITE: use invite()');
    const reply = await this.#context.sender.send(this.#newRequest(options), options);
    const { response, request, flow } = reply;
    const isSuccess = response.status >= 200 && response.status < 300;
    if (options.method === 'REGISTER' && isSuccess && flow !== null) {
      this.#keeper.registered(request, response, flow);
    }
    return response;
  }

  /**
   * Places a call by INVITE.
   *
   * @throws {SipError} 400 when From is no address.
   * @throws {TypeError} when a part is not allowed in a message.
   */
  invite(options: OutgoingInvite): ClientInvite {
    const request = this.#newRequest({ ...options, method: 'INVITE' });
    const { sessionTimer } = this.#context;
    const isWished = sessionTimer !== undefined && request.get('session-expires') === undefined;
    if (isWished) addSessionExpires(request, sessionTimer);
    return new ClientInvite({
      context: this.#context,
      dialogs: this.#dialogs,
      request,
      digest: options.digest,
      contactUser: options.contactUser,
      acknowledge: options.acknowledge ?? 'automatic',
      ringTimeoutMs: options.ringTimeoutMs ?? RING_TIMEOUT_MS,
    });
  }

  /**
   * Uses a WebSocket that was accepted elsewhere, until it closes. RFC 7118.
   *
   * @returns the flow of its calls and requests.
   */
  acceptSocket(socket: MessageSocket): Flow {
    return this.#transport.acceptSocket(socket);
  }

  /**
   * Ends an INVITE of an earlier process that has no final response: cancels ours, refuses a peer's.
   *
   * @throws {SipError} 503 when the peer is unreachable.
   */
  async endOrphan(direction: 'in' | 'out', invite: SipMessage, peer: Target): Promise<void> {
    const parts = {
      context: this.#context,
      dialogs: this.#dialogs,
      transport: this.#transport,
      transactions: this.#transactions,
    };
    if (direction === 'out') await cancelOrphan(parts, invite, peer);
    else await refuseOrphan(parts, invite, peer);
  }

  /** The live dialog with that `Dialog.id`. */
  findDialog(id: string): Dialog | undefined {
    return this.#dialogs.get(id);
  }

  /** Whether a request may be answered: a stranger's only where it belongs to a dialog or transaction of ours. */
  #mayAsk(request: SipMessage, address: string, strangers: StrangerGuard | undefined): boolean {
    if (!strangers?.isSilenced(address)) return true;
    const isOurs = ifSound(
      () =>
        this.#transactions.knows(request) || this.#dialogs.ofRequest(idsOf(request)) !== undefined,
    );
    if (isOurs === true) return true;
    strangers.count(address);
    return false;
  }

  #newRequest(request: OutgoingRequest): SipMessage {
    const { ownEndpoint } = this;
    const ownAddress = ownEndpoint === undefined ? '' : `<sip:${formatEndpoint(ownEndpoint)}>`;
    const { tokens, product } = this.#context;
    return newRequest({ request, tokens, product, ownAddress });
  }
}

/** Parts of the user agent that ending an orphan takes. */
interface OrphanParts {
  readonly context: EngineContext;
  readonly dialogs: DialogTable;
  readonly transport: Pick<TransportLayer, 'flowTo'>;
  readonly transactions: Pick<TransactionLayer, 'resume' | 'refuse'>;
}

/** Service Unavailable: carriers try another route, or retry. RFC 3261, 21.5.4. */
const RESTARTED = 503;

/**
 * Cancels an outgoing INVITE. A 2xx that crosses the CANCEL gets ACK and BYE. Resolves at the final response, or
 * after 64*T1.
 *
 * @param invite as sent, with our Via; the body may be missing.
 * @param target destination of the INVITE.
 * @throws {SipError} 503 when the target is unreachable.
 */
export async function cancelOrphan(
  parts: OrphanParts,
  invite: SipMessage,
  target: Target,
): Promise<void> {
  const { context, dialogs, transport, transactions } = parts;
  const name = serverNameOf(parseUri(nextHopUri(invite)));
  const flow = await transport.flowTo({ ...target, ...name });
  const forks = new ClientForks({
    context,
    dialogs,
    digest: undefined,
    acknowledge: 'automatic',
  });
  await new Promise<void>((resolve) => {
    const isOurs = transactions.resume(invite, flow, {
      onResponse: (response) => {
        if (response.status >= 200 && response.status < 300) {
          forks.later(response, { request: invite, flow });
        }
        if (response.status >= 200) resolve();
      },
      onTimeout: resolve,
      onTransportError: resolve,
    });
    if (isOurs) context.sender.cancel(invite, flow);
    else resolve();
  });
}

/**
 * Refuses an incoming INVITE with 503 and Retry-After.
 *
 * @param invite as received, with `received` and `rport` in its Via; the body may be missing.
 * @param source origin of the INVITE.
 * @throws {SipError} 503 when the source is unreachable.
 */
export async function refuseOrphan(
  { transport, transactions }: OrphanParts,
  invite: SipMessage,
  source: Target,
): Promise<void> {
  // The connection of the request ended with its process. RFC 3261, 18.2.2.
  const port =
    source.protocol === 'UDP' ? source.port : (invite.via.port ?? defaultPortOf(source.protocol));
  transactions.refuse(invite, await transport.flowTo({ ...source, port }), RESTARTED);
}
