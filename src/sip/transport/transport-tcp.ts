/** One TCP listening port, the connections it accepted, and those we opened from it. */
import type { Server, Socket } from 'node:net';
import { connect, createServer, isIPv6 } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { SipError } from '../message/sip-error.ts';
import type { StreamFrame } from '../parser/stream-framer.ts';
import type { AddressFor, Endpoint, Flow } from './flow.ts';
import { formatEndpoint } from './flow.ts';
import { listenError } from './listen-error.ts';
import type { ConnectionLimits } from './tcp-connection.ts';
import { TcpConnection } from './tcp-connection.ts';

export interface TcpTransportOptions {
  readonly address: string;
  readonly port: number;
  readonly addressFor: AddressFor;
  readonly clock: Clock;
  readonly limits: TcpLimits;
  readonly onFrame: (frame: StreamFrame, flow: Flow) => void;
  /** A connection was turned away because there are too many. */
  readonly onRefused: () => void;
}

export interface TcpLimits extends ConnectionLimits {
  readonly connectionsMax: number;
  /** How many of them one address may have. */
  readonly connectionsPerPeerMax: number;
  readonly connectMs: number;
}

export class TcpTransport {
  readonly protocol = 'TCP';
  readonly #options: TcpTransportOptions;
  readonly #server: Server;
  readonly #connections = new Map<string, TcpConnection>();
  readonly #connecting = new Map<string, Promise<TcpConnection>>();
  readonly #countByPeer = new Map<string, number>();
  #port: number;
  #isOpen = false;

  constructor(options: TcpTransportOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** The address bound to, as opposed to the one that a far end is told. */
  get bound(): Endpoint {
    return { address: this.#options.address, port: this.#port };
  }

  /** Our end as the far end is told it: the port that takes connections. */
  localFor({ address: farEnd }: Endpoint): Endpoint {
    const { address, addressFor } = this.#options;
    return { address: addressFor(address, farEnd), port: this.#port };
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** @throws {SipError} 503 when the address and port cannot be had. */
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
    // A socket that could not be accepted, for want of file descriptors say, is the peer's to retry.
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
    const ofPeer = this.#countByPeer.get(remote.address) ?? 0;
    const isFull = this.#connections.size >= limits.connectionsMax;
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
      onClose: () => this.#forget(connection, key),
    });
    this.#connections.set(key, connection);
    this.#countByPeer.set(remote.address, (this.#countByPeer.get(remote.address) ?? 0) + 1);
    return connection;
  }

  #forget(connection: TcpConnection, key: string): void {
    if (this.#connections.get(key) === connection) this.#connections.delete(key);
    const left = (this.#countByPeer.get(connection.remote.address) ?? 1) - 1;
    if (left > 0) this.#countByPeer.set(connection.remote.address, left);
    else this.#countByPeer.delete(connection.remote.address);
  }
}
