/** TCP and TLS transport: one listening port, the connections it accepted, and those opened from it. */
import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import { SipError } from '../message/status.ts';
import type { StreamFrame } from '../parser/stream-framer.ts';
import {
  type AddressFor,
  defaultPortOf,
  type Endpoint,
  type Flow,
  formatEndpoint,
  listenError,
} from './flow.ts';
import {
  type ConnectionLimits,
  TcpConnection,
  type TcpConnectionOptions,
} from './tcp-connection.ts';
import { type PeerName, PeerNames, TlsLayer, type TlsSettings, tlsFailureOf } from './tls-layer.ts';

interface TcpTransportOptions {
  readonly address: string;
  readonly port: number;
  readonly addressFor: AddressFor;
  readonly clock: Clock;
  readonly limits: TcpLimits;
  /** Secures every connection; undefined for plain TCP. */
  readonly tls?: TlsSettings | undefined;
  /** Sources with a small quota of connections, whose keep-alive gets no answer. */
  readonly isStranger: (sourceAddress: string) => boolean;
  readonly onFrame: (frame: StreamFrame, flow: Flow) => void;
  /** Called when a connection exceeds the limits. */
  readonly onRefused: () => void;
  /** Called when a TLS connection of ours breaks: the peer may refuse our certificate after the handshake. */
  readonly onBroken: (why: string) => void;
  /** Called when a peer's TLS handshake fails. */
  readonly onHandshakeFailed: (why: string) => void;
}

/** Limits of TCP connections. `connectionsMax` holds for accepted connections, and separately for our own. */
export interface TcpLimits extends ConnectionLimits, QuotaLimits {
  /** From the first packet to the established connection, the TLS handshake included. */
  readonly connectMs: number;
}

/**
 * Idle time of our connections where no peer can connect: a carrier that we registered with has no other way to us. The
 * kernel's keep-alive holds the way open.
 */
const KEPT_MS = DAY_MS;

/** Listener and its connections. With TLS and without a certificate of ours it listens nowhere and only connects. */
export class TcpTransport {
  readonly protocol: 'TCP' | 'TLS';
  readonly #options: TcpTransportOptions;
  readonly #server: Server;
  readonly #tls: TlsLayer | undefined;
  readonly #names = new PeerNames();
  readonly #connections = new Map<string, TcpConnection>();
  readonly #connecting = new Map<string, Promise<TcpConnection>>();
  /** Number of open connections that we opened. */
  #ownConnections = 0;
  readonly #quota: ConnectionQuota;
  /** Accepted connections whose TLS handshake is under way. */
  readonly #handshaking = new Map<string, Socket>();
  #port: number;
  #isOpen = false;

  constructor(options: TcpTransportOptions) {
    const { tls, limits } = options;
    this.#options = options;
    this.protocol = tls === undefined ? 'TCP' : 'TLS';
    this.#port = options.port;
    this.#quota = new ConnectionQuota(limits);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#tls =
      tls &&
      new TlsLayer({
        settings: tls,
        handshakeMs: limits.connectMs,
        onSecured: (socket) => this.#onSecured(socket),
        onFailed: (why) => options.onHandshakeFailed(why),
      });
  }

  /** Bound address, as opposed to the advertised one. */
  get bound(): Endpoint {
    return { address: this.#options.address, port: this.#port };
  }

  /** Whether peers can connect. */
  get isListening(): boolean {
    return this.#tls?.hasCertificate !== false;
  }

  /** Advertised address with the listening port. */
  localFor({ address: farEnd }: Endpoint): Endpoint {
    const { address, addressFor } = this.#options;
    return { address: addressFor(address, farEnd), port: this.#port };
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Uses other certificates from now on; connections that are open stay as they are. */
  useTls(settings: TlsSettings): void {
    this.#tls?.use(settings);
  }

  /** @throws {SipError} 503 when address and port are not available. */
  async start(): Promise<void> {
    if (this.isListening) await this.#listen();
    else this.#port ||= defaultPortOf(this.protocol);
    this.#isOpen = true;
  }

  async #listen(): Promise<void> {
    const { address, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: Error) => reject(listenError(this.protocol, { address, port }, cause));
      this.#server.once('error', fail);
      this.#server.listen({ port, host: address, ipv6Only: isIPv6(address) }, () => {
        this.#server.off('error', fail);
        resolve();
      });
    });
    const bound = this.#server.address();
    this.#port = typeof bound === 'object' && bound !== null ? bound.port : port;
    // A failed accept, for example without free file descriptors, is left to the peer to retry.
    this.#server.on('error', () => this.#options.onRefused());
  }

  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of [...this.#connections.values()]) connection.abort();
    for (const socket of [...this.#handshaking.values()]) socket.destroy();
    await Promise.allSettled(this.#connecting.values());
    await closed;
  }

  /**
   * The open connection to that endpoint, or a new one. With TLS the peer proves the name that the target has.
   *
   * @throws {SipError} 503 when the peer refuses, does not answer in time, or cannot prove its name.
   */
  async flowTo(remote: Endpoint & PeerName): Promise<Flow> {
    const { address, port } = remote;
    const peer = this.#tls === undefined ? { address, port } : this.#names.named(remote);
    const key = keyOf(peer);
    const open = this.#connections.get(key);
    if (open?.isOpen) return open;
    const pending = this.#connecting.get(key) ?? this.#connect(peer, key);
    return await pending;
  }

  #connect(remote: Endpoint & PeerName, key: string): Promise<TcpConnection> {
    const own = this.#ownConnections + this.#connecting.size;
    if (!this.#isOpen || own >= this.#options.limits.connectionsMax) {
      return Promise.reject(new SipError(503, `Cannot connect to "${key}": too many connections`));
    }
    const connecting = this.#dial(remote, key).finally(() => this.#connecting.delete(key));
    this.#connecting.set(key, connecting);
    return connecting;
  }

  #dial(remote: Endpoint & PeerName, key: string): Promise<TcpConnection> {
    const { clock, limits } = this.#options;
    return new Promise<TcpConnection>((resolve, reject) => {
      const socket = this.#tls?.connect(remote) ?? connect(remote.port, remote.address);
      const fail = (why: string) => {
        cancelTimeout();
        socket.destroy();
        reject(new SipError(503, `Cannot connect to "${key}": ${why}`));
      };
      const failBy = (error: Error) => fail(tlsFailureOf(error));
      const failByEnd = () => fail('the peer closed the connection');
      const cancelTimeout = clock.after(limits.connectMs, () => fail('no answer'));
      socket.once('error', failBy);
      socket.once('close', failByEnd);
      socket.once(this.#tls === undefined ? 'connect' : 'secureConnect', () => {
        cancelTimeout();
        socket.off('error', failBy);
        socket.off('close', failByEnd);
        if (!this.#isOpen) return fail('stopped');
        this.#names.proved(remote);
        const kept = this.isListening ? limits : { ...limits, idleMs: KEPT_MS };
        resolve(this.#adoptOwn(socket, { remote, key, limits: kept }));
      });
    });
  }

  #accept(socket: Socket): void {
    const { limits, isStranger, onRefused } = this.#options;
    const remote = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 };
    const release =
      remote.address === ''
        ? undefined
        : this.#quota.take(remote.address, isStranger(remote.address));
    if (release === undefined) {
      socket.on('error', () => undefined);
      socket.destroy();
      onRefused();
      return;
    }
    socket.once('close', release);
    const key = formatEndpoint(remote);
    if (this.#tls === undefined) this.#adoptAccepted(socket, { remote, key, limits });
    else this.#shakeHands(this.#tls, socket, key);
  }

  #shakeHands(tls: TlsLayer, socket: Socket, key: string): void {
    this.#handshaking.set(key, socket);
    // 'close' follows every 'error'.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#handshaking.delete(key));
    tls.accept(socket);
  }

  /** Adopts an accepted TLS connection. Its peer has proved no name, so the connection only carries the peer's own dialogs. */
  #onSecured(socket: Socket): void {
    const remote = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 };
    const key = formatEndpoint(remote);
    this.#handshaking.delete(key);
    const { limits } = this.#options;
    if (!this.#isOpen || remote.address === '') socket.destroy();
    else this.#adoptAccepted(socket, { remote, key: `from ${key}`, limits });
  }

  #adoptOwn(socket: Socket, parts: ConnectionParts): TcpConnection {
    this.#ownConnections += 1;
    socket.once('close', () => {
      this.#ownConnections -= 1;
    });
    if (this.#tls === undefined) return this.#adopt(socket, parts);
    const tell = (why: string) =>
      this.#options.onBroken(`Connection to "${parts.key}" broke: ${why}`);
    tellOfSilentEnd(socket, tell);
    return this.#adopt(socket, { ...parts, onBroken: (error) => tell(tlsFailureOf(error)) });
  }

  #adoptAccepted(socket: Socket, parts: ConnectionParts): void {
    const { isStranger } = this.#options;
    this.#adopt(socket, { ...parts, isSilent: () => isStranger(parts.remote.address) });
  }

  #adopt(socket: Socket, { key, ...parts }: ConnectionParts): TcpConnection {
    const { clock, onFrame } = this.#options;
    const connection: TcpConnection = new TcpConnection({
      ...parts,
      protocol: this.protocol,
      socket,
      localFor: () => this.localFor(parts.remote),
      clock,
      onFrame,
      onClose: () => {
        if (this.#connections.get(key) === connection) this.#connections.delete(key);
      },
    });
    this.#connections.set(key, connection);
    return connection;
  }
}

/** Some peers close instead of an alert when they do not accept our certificate. */
function tellOfSilentEnd(socket: Socket, tell: (why: string) => void): void {
  let hasAnswered = false;
  socket.once('data', () => {
    hasAnswered = true;
  });
  socket.once('end', () => {
    if (!hasAnswered)
      tell('the peer closed it without an answer; it may not accept our certificate');
  });
}

/** Options that differ between connections. */
interface ConnectionParts
  extends Pick<TcpConnectionOptions, 'remote' | 'limits' | 'isSilent' | 'onBroken'> {
  /** Key in the table of connections. */
  readonly key: string;
}

/** A peer that proved one name is not taken for another one at the same address. */
function keyOf(remote: Endpoint & PeerName): string {
  const endpoint = formatEndpoint(remote);
  return remote.serverName === undefined ? endpoint : `${remote.serverName} at ${endpoint}`;
}

/** Numbers of accepted connections that may be open at a time. */
interface QuotaLimits {
  readonly connectionsMax: number;
  /** How many of them one address may have. */
  readonly connectionsPerPeerMax: number;
  /** How many of them all strangers together may have. */
  readonly strangersMax: number;
  /** How many of them one stranger may have. */
  readonly strangersPerPeerMax: number;
}

/** Counts accepted connections, TLS handshakes among them. */
export class ConnectionQuota {
  readonly #limits: QuotaLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;
  #strangers = 0;

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  /** @returns releases the place, safe to call twice; undefined when no place is left. */
  take(address: string, isStranger: boolean): (() => void) | undefined {
    if (!this.#hasRoom(address, isStranger)) return undefined;
    this.#add(address, isStranger, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(address, isStranger, -1);
      isHeld = false;
    };
  }

  #hasRoom(address: string, isStranger: boolean): boolean {
    const { connectionsMax, connectionsPerPeerMax, strangersMax, strangersPerPeerMax } =
      this.#limits;
    const ofPeer = this.#byAddress.get(address) ?? 0;
    if (this.#total >= connectionsMax || ofPeer >= connectionsPerPeerMax) return false;
    return !isStranger || (this.#strangers < strangersMax && ofPeer < strangersPerPeerMax);
  }

  #add(address: string, isStranger: boolean, count: 1 | -1): void {
    this.#total += count;
    if (isStranger) this.#strangers += count;
    const ofPeer = (this.#byAddress.get(address) ?? 0) + count;
    if (ofPeer === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, ofPeer);
  }
}
