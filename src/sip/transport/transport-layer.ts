/** Transport layer: all sockets of a user agent; parses and stamps received messages, finds flows for sent ones. */
import type { Clock } from '../../lib/clock.ts';
import type { MessageSocket } from '../../lib/process/message-socket.ts';
import { type EngineStats, sendCounted } from '../engine-stats.ts';
import { BadMessageError, makeResponse, type SipMessage, type Via } from '../message/message.ts';
import { ifSound, SipError } from '../message/status.ts';
import type { SipUri } from '../message/uri.ts';
import { parseMessage } from '../parser/parser.ts';
import type { StreamFrame } from '../parser/stream-framer.ts';
import {
  type AddressFor,
  type Endpoint,
  type Flow,
  isSameFamily,
  type ListenProtocol,
  type Protocol,
  responseEndpoint,
  stampReceived,
} from './flow.ts';
import { type Resolver, resolveTargets, type Target } from './next-hop.ts';
import type { TlsSettings } from './tls-layer.ts';
import { type TcpLimits, TcpTransport } from './transport-tcp.ts';
import { type OpenUdpSocket, UdpTransport } from './transport-udp.ts';
import { WsConnection } from './transport-ws.ts';

/** One listening address. */
export interface ListenOptions {
  readonly protocol: ListenProtocol;
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Filter of incoming requests; a rejected one is dropped without a response. */
export type RequestFilter = (request: SipMessage, source: Endpoint, protocol: Protocol) => boolean;

interface TransportLayerOptions {
  readonly listen: readonly ListenOptions[];
  readonly addressFor: AddressFor;
  readonly clock: Clock;
  readonly stats: EngineStats;
  readonly tcpLimits: TcpLimits;
  /** Certificates of the TLS listeners. */
  readonly tls: TlsSettings;
  /** Sources with a small quota of TCP and TLS connections. */
  readonly isStranger: (sourceAddress: string) => boolean;
  readonly openUdpSocket: OpenUdpSocket;
  readonly resolver: Resolver;
  /** To tag of stateless responses, always the same. RFC 3261, 8.2.7. */
  readonly statelessTag: string;
  readonly screen: RequestFilter;
  readonly onRequest: (request: SipMessage, via: Via, flow: Flow) => void;
  readonly onResponse: (response: SipMessage, via: Via, flow: Flow) => void;
}

/** Sockets of a user agent. */
export class TransportLayer {
  readonly #options: TransportLayerOptions;
  readonly #udp: readonly UdpTransport[];
  readonly #tcp: readonly TcpTransport[];
  /** Has no listening port: the HTTP server passes accepted WebSockets on. */
  readonly #webSockets = new Set<WsConnection>();
  readonly #protocols: readonly Protocol[];

  constructor(options: TransportLayerOptions) {
    this.#options = options;
    this.#udp = options.listen.filter(isUdp).map((listen) => this.#makeUdp(listen));
    this.#tcp = options.listen.filter((listen) => !isUdp(listen)).map((tcp) => this.#makeTcp(tcp));
    this.#protocols = [
      ...(this.#udp.length > 0 ? (['UDP'] as const) : []),
      ...(this.#tcpBy('TCP') ? (['TCP'] as const) : []),
      ...(this.#tcpBy('TLS') ? (['TLS'] as const) : []),
    ];
  }

  get transports(): readonly (UdpTransport | TcpTransport)[] {
    return [...this.#udp, ...this.#tcp];
  }

  /** Transports that peers can send to. */
  get listeners(): readonly (UdpTransport | TcpTransport)[] {
    return [...this.#udp, ...this.#tcp.filter(({ isListening }) => isListening)];
  }

  get connectionCount(): number {
    return this.#tcp.reduce((sum, each) => sum + each.connectionCount, this.#webSockets.size);
  }

  /** @throws {SipError} 503 when an address is not available; then no socket stays open. */
  async start(): Promise<void> {
    try {
      for (const transport of this.transports) await transport.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const connection of [...this.#webSockets]) connection.close();
    await Promise.all(this.transports.map((transport) => transport.stop()));
  }

  /** Takes in a WebSocket that was accepted elsewhere. */
  acceptSocket(socket: MessageSocket): Flow {
    const connection: WsConnection = new WsConnection({
      socket,
      onMessage: (bytes, flow) => this.#receive(() => parseMessage(bytes), flow),
      onClose: () => this.#webSockets.delete(connection),
    });
    if (connection.isOpen) this.#webSockets.add(connection);
    return connection;
  }

  /** @throws {SipError} 503 without a target. */
  async resolve(uri: SipUri): Promise<readonly Target[]> {
    return await resolveTargets(uri, this.#protocols, this.#options.resolver);
  }

  canSendBy(protocol: Protocol): boolean {
    return this.#protocols.includes(protocol);
  }

  /**
   * Opens a flow to a target.
   *
   * @throws {SipError} 503 without a suitable socket, or when the connection is refused.
   */
  async flowTo(target: Target): Promise<Flow> {
    if (target.protocol === 'TCP' || target.protocol === 'TLS') {
      const transport = this.#tcpBy(target.protocol);
      if (transport !== undefined) return await transport.flowTo(target);
    } else {
      const transport = this.#udp.find(({ bound }) => isSameFamily(bound, target));
      if (transport !== undefined) return transport.flowTo(target);
    }
    throw new SipError(503, `Cannot send by ${target.protocol}: no such transport`);
  }

  /** Uses other certificates from now on; open connections and their calls go on. */
  useTls(settings: TlsSettings): void {
    for (const transport of this.#tcp) transport.useTls(settings);
  }

  #tcpBy(protocol: 'TCP' | 'TLS'): TcpTransport | undefined {
    return this.#tcp.find((transport) => transport.protocol === protocol);
  }

  /** The flow that answers to a request take. RFC 3261, 18.2.2. */
  responseFlow(via: Via, flow: Flow): Flow {
    if (flow.isReliable) return flow;
    const endpoint = responseEndpoint(via, flow.remote);
    if (endpoint.port === flow.remote.port) return flow;
    return this.#udp.find((transport) => transport.made(flow))?.flowTo(endpoint) ?? flow;
  }

  /** Refuses a request and forgets it. */
  replyStateless(request: SipMessage, via: Via, flow: Flow, { status, reason }: Refusal): void {
    const { stats, statelessTag } = this.#options;
    stats.reject(status, reason);
    const response = makeRefusal(request, statelessTag, { status, reason });
    sendCounted(stats, this.responseFlow(via, flow), response.toBuffer(), false);
  }

  #makeUdp(listen: ListenOptions): UdpTransport {
    const { stats, openUdpSocket, addressFor } = this.#options;
    return new UdpTransport({
      address: listen.address,
      port: listen.port,
      addressFor,
      openSocket: openUdpSocket,
      onDatagram: (bytes, flow) => this.#receive(() => parseMessage(bytes), flow),
      onError: (error) => stats.drop('unsendable', error.message),
    });
  }

  #makeTcp(listen: ListenOptions): TcpTransport {
    const { clock, stats, tcpLimits, addressFor, tls, isStranger } = this.#options;
    return new TcpTransport({
      address: listen.address,
      port: listen.port,
      addressFor,
      clock,
      limits: tcpLimits,
      ...(listen.protocol === 'TLS' && { tls }),
      isStranger,
      onFrame: (frame, flow) => this.#receiveFrame(frame, flow),
      onRefused: () => stats.drop('connection-limit'),
      onBroken: (why) => stats.drop('unsendable', why),
      onHandshakeFailed: (why) => stats.drop('bad-handshake', why),
    });
  }

  #receiveFrame(frame: StreamFrame, flow: Flow): void {
    switch (frame.kind) {
      case 'message':
        this.#receive(() => frame.message, flow);
        break;
      case 'bad':
        this.#refuse(frame.error, flow);
        break;
      case 'broken':
        this.#options.stats.drop('bad-stream', frame.error.message);
        this.#refuse(frame.error, flow);
        flow.close();
        break;
      case 'ping':
        break;
      default:
        frame satisfies never;
    }
  }

  #receive(read: () => SipMessage, flow: Flow): void {
    this.#options.stats.counts.messagesIn += 1;
    let message: SipMessage;
    let via: Via;
    try {
      message = read();
      this.#options.stats.read(message, flow);
      via = message.isRequest ? stampReceived(message, flow.remote) : message.via;
    } catch (error) {
      // A message that cannot be handled must not end the socket.
      if (error instanceof SipError) this.#refuse(error, flow);
      else this.#options.stats.drop('unreadable', String(error));
      return;
    }
    if (!message.isRequest) this.#options.onResponse(message, via, flow);
    else if (this.#options.screen(message, flow.remote, flow.protocol)) {
      this.#options.onRequest(message, via, flow);
    } else this.#options.stats.drop('screened');
  }

  /** RFC 4475: a request that can be answered gets the error's status, any other message gets no answer. */
  #refuse(error: SipError, flow: Flow): void {
    const request = error instanceof BadMessageError ? error.sipMessage : undefined;
    const via = request && ifSound(() => stampReceived(request, flow.remote));
    if (request === undefined || via === undefined || error.status === 0) {
      this.#options.stats.drop('unreadable', error.message);
      return;
    }
    if (!this.#options.screen(request, flow.remote, flow.protocol)) {
      this.#options.stats.drop('screened');
      return;
    }
    this.replyStateless(request, via, flow, { status: error.status, reason: error.message });
  }
}

interface Refusal {
  readonly status: number;
  readonly reason?: string | undefined;
}

/** A caller turned away for load should not be back at once. RFC 3261, 21.5.4. */
export const RETRY_AFTER_SECONDS = 5;

/** Makes a response of the engine's own. A 503 carries Retry-After. */
export function makeRefusal(request: SipMessage, tag: string, refusal: Refusal): SipMessage {
  const response = makeResponse(request, refusal.status, refusal.reason, tag);
  if (refusal.status === 503) response.add('retry-after', RETRY_AFTER_SECONDS);
  return response;
}

function isUdp(listen: ListenOptions): boolean {
  return listen.protocol === 'UDP';
}
