/** TCP transport: one listening port, the connections it accepted, and those opened from it. */
import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { SipError } from '../message/status.ts';
import { type StreamFrame, StreamFramer } from '../parser/stream-framer.ts';
import { type AddressFor, type Endpoint, type Flow, formatEndpoint, listenError } from './flow.ts';

interface TcpTransportOptions {
  readonly address: string;
  readonly port: number;
  readonly addressFor: AddressFor;
  readonly clock: Clock;
  readonly limits: TcpLimits;
  readonly onFrame: (frame: StreamFrame, flow: Flow) => void;
  /** Called when a connection exceeds the limits. */
  readonly onRefused: () => void;
}

/** Limits of TCP connections: total, per peer address, connect time in milliseconds. */
export interface TcpLimits extends ConnectionLimits {
  readonly connectionsMax: number;
  /** How many of them one address may have. */
  readonly connectionsPerPeerMax: number;
  readonly connectMs: number;
}

/** TCP listener and its connections. */
export class TcpTransport {
  readonly protocol = 'TCP';
  readonly #options: TcpTransportOptions;
  readonly #server: Server;
  readonly #connections = new Map<string, TcpConnection>();
  readonly #connecting = new Map<string, Promise<TcpConnection>>();
  #port: number;
  #isOpen = false;

  constructor(options: TcpTransportOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Bound address, as opposed to the advertised one. */
  get bound(): Endpoint {
    return { address: this.#options.address, port: this.#port };
  }

  /** Advertised address with the listening port. */
  localFor({ address: farEnd }: Endpoint): Endpoint {
    const { address, addressFor } = this.#options;
    return { address: addressFor(address, farEnd), port: this.#port };
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** @throws {SipError} 503 when address and port are not available. */
  async start(): Promise<void> {
    const { address, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: Error) => reject(listenError('TCP', { address, port }, cause));
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
    this.#isOpen = true;
  }

  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of [...this.#connections.values()]) connection.abort();
    await Promise.allSettled(this.#connecting.values());
    await closed;
  }

  /**
   * The open connection to that endpoint, or a new one.
   *
   * @throws {SipError} 503 when the peer refuses or does not answer in time.
   */
  async flowTo(remote: Endpoint): Promise<Flow> {
    const key = formatEndpoint(remote);
    const open = this.#connections.get(key);
    if (open?.isOpen) return open;
    const pending = this.#connecting.get(key) ?? this.#connect(remote, key);
    return await pending;
  }

  #connect(remote: Endpoint, key: string): Promise<TcpConnection> {
    if (!this.#isOpen || this.#connections.size >= this.#options.limits.connectionsMax) {
      return Promise.reject(new SipError(503, `Cannot connect to "${key}": too many connections`));
    }
    const connecting = this.#dial(remote, key).finally(() => this.#connecting.delete(key));
    this.#connecting.set(key, connecting);
    return connecting;
  }

  #dial(remote: Endpoint, key: string): Promise<TcpConnection> {
    const { clock, limits } = this.#options;
    return new Promise<TcpConnection>((resolve, reject) => {
      const socket = connect(remote.port, remote.address);
      const fail = (why: string) => {
        cancelTimeout();
        socket.destroy();
        reject(new SipError(503, `Cannot connect to "${key}": ${why}`));
      };
      const failBy = (error: Error) => fail(error.message);
      const cancelTimeout = clock.after(limits.connectMs, () => fail('no answer'));
      socket.once('error', failBy);
      socket.once('connect', () => {
        cancelTimeout();
        socket.off('error', failBy);
        if (this.#isOpen) resolve(this.#adopt(socket, remote, key));
        else fail('stopped');
      });
    });
  }

  #accept(socket: Socket): void {
    const { limits } = this.#options;
    const remote = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 };
    const connections = [...this.#connections.values()];
    const ofPeer = connections.filter((each) => each.remote.address === remote.address).length;
    const isFull = connections.length >= limits.connectionsMax;
    if (isFull || ofPeer >= limits.connectionsPerPeerMax || remote.address === '') {
      socket.on('error', () => undefined);
      socket.destroy();
      this.#options.onRefused();
      return;
    }
    this.#adopt(socket, remote, formatEndpoint(remote));
  }

  #adopt(socket: Socket, remote: Endpoint, key: string): TcpConnection {
    const { clock, limits, onFrame } = this.#options;
    const connection: TcpConnection = new TcpConnection({
      socket,
      remote,
      localFor: () => this.localFor(remote),
      clock,
      limits,
      onFrame,
      onClose: () => {
        if (this.#connections.get(key) === connection) this.#connections.delete(key);
      },
    });
    this.#connections.set(key, connection);
    return connection;
  }
}

interface ConnectionLimits {
  /** A connection that no transaction and no dialog needs is closed after that long a silence. */
  readonly idleMs: number;
  /** Time limit from the first octet of a message to its last. */
  readonly messageMs: number;
  /** A peer that leaves so much unread is given up. */
  readonly unsentBytesMax: number;
}

/** Default limits of a connection. */
export const STANDARD_CONNECTION_LIMITS: ConnectionLimits = {
  idleMs: 120_000,
  messageMs: 5_000,
  unsentBytesMax: 1024 * 1024,
};

/** How long a connection may be silent before the kernel asks whether its peer still lives. */
const KEEP_ALIVE_MS = 60_000;

const PONG = Buffer.from('\r\n');

interface TcpConnectionOptions {
  readonly socket: Socket;
  readonly remote: Endpoint;
  /** Our address for this peer. */
  readonly localFor: () => Endpoint;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly onFrame: (frame: StreamFrame, flow: Flow) => void;
  readonly onClose: () => void;
}

/** One TCP connection that SIP goes over: framing, keep-alive, and the limits on slow and idle peers. */
export class TcpConnection implements Flow {
  readonly protocol = 'TCP';
  readonly isReliable = true;
  readonly remote: Endpoint;
  readonly #options: TcpConnectionOptions;
  readonly #socket: Socket;
  readonly #framer = new StreamFramer();
  readonly #closeListeners = new Set<() => void>();
  #isOpen = true;
  readonly #frames: StreamFrame[] = [];
  #isDelivering = false;
  #heardAtMs: number;
  #cancelIdle: () => void = () => undefined;
  #cancelSlow: (() => void) | undefined;

  constructor(options: TcpConnectionOptions) {
    this.#options = options;
    this.remote = options.remote;
    this.#socket = options.socket;
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // 'close' follows every 'error'.
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.#closed());
    this.#heardAtMs = options.clock.nowMs();
    this.#watchIdle(options.limits.idleMs);
  }

  get local(): Endpoint {
    return this.#options.localFor();
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#socket.writable;
  }

  send(bytes: Buffer): void {
    if (!this.isOpen) throw new SipError(503, 'Cannot send by TCP: connection is closed');
    if (this.#socket.writableLength > this.#options.limits.unsentBytesMax) {
      this.abort();
      throw new SipError(503, 'Cannot send by TCP: peer has stopped reading');
    }
    this.#socket.write(bytes);
  }

  onClosed(listener: () => void): () => void {
    this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  close(): void {
    this.#socket.destroySoon();
    this.#closed();
  }

  /** Closes without flushing pending writes. */
  abort(): void {
    this.#socket.destroy();
    this.#closed();
  }

  #receive(chunk: Buffer): void {
    this.#heardAtMs = this.#options.clock.nowMs();
    const frames = this.#framer.push(chunk);
    this.#watchSlow(frames.length > 0);
    this.#frames.push(...frames);
    if (this.#frames.length === 0 || this.#isDelivering) return;
    this.#isDelivering = true;
    this.#deliver();
  }

  /**
   * Delivers one message per turn of the event loop: promises that follow from a 2xx settle before the request in the
   * same packet. The socket is paused meanwhile, which bounds the queue.
   */
  #deliver(): void {
    const frame = this.#frames.shift();
    this.#isDelivering = frame !== undefined && this.#isOpen;
    if (frame === undefined || !this.#isOpen) {
      this.#socket.resume();
      return;
    }
    if (this.#frames.length > 0) this.#socket.pause();
    setImmediate(() => this.#deliver());
    if (frame.kind === 'ping') this.#pong();
    else this.#options.onFrame(frame, this);
  }

  /** Answers a double line break with a single one. RFC 5626, 4.4.1. */
  #pong(): void {
    if (this.isOpen && this.#socket.writableLength === 0) this.#socket.write(PONG);
  }

  #watchIdle(waitMs: number): void {
    const { clock, limits } = this.#options;
    this.#cancelIdle = clock.after(waitMs, () => {
      const idleMs = clock.nowMs() - this.#heardAtMs;
      // A close listener means that a transaction or dialog still needs the connection: a call may be silent for
      // long.
      if (this.#closeListeners.size > 0) this.#watchIdle(limits.idleMs);
      else if (idleMs < limits.idleMs) this.#watchIdle(limits.idleMs - idleMs);
      else this.abort();
    });
  }

  /** Counted from the first octet of a message, so that a drip of octets does not put it off. */
  #watchSlow(hasNewMessage: boolean): void {
    if (hasNewMessage || !this.#framer.isWaiting) {
      this.#cancelSlow?.();
      this.#cancelSlow = undefined;
    }
    if (!this.#framer.isWaiting) return;
    const { clock, limits } = this.#options;
    this.#cancelSlow ??= clock.after(limits.messageMs, () => this.abort());
  }

  #closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelIdle();
    this.#cancelSlow?.();
    this.#options.onClose();
    for (const listener of [...this.#closeListeners]) listener();
    this.#closeListeners.clear();
  }
}
