/** Bounds for open HTTP connections: in all and for each client address, with a reserve for health checks. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ServiceError } from '../../domain/service-error.ts';
import { type IsTrustedProxy, trustNoProxy } from '../../domain/trusted-proxies.ts';
import { clientOf } from './client-address.ts';

const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz'];

/** Connections that may make any request. */
const CONNECTIONS_MAX = 2000;

/** Of them, those of one client; a trusted proxy, which speaks for many clients, may have all. */
const PER_CLIENT_MAX = 256;

/** Further connections, for health checks alone. */
const RESERVE_MAX = 128;

/** How long a connection of the reserve may last, in milliseconds. */
const RESERVE_MS = 2000;

export class ConnectionLimits {
  readonly #isTrustedProxy: IsTrustedProxy;
  readonly #countOf = new Map<string, number>();
  /** In the order in which they were opened. */
  readonly #reserve = new Set<Duplex>();
  #count = 0;

  constructor(isTrustedProxy: IsTrustedProxy = trustNoProxy) {
    this.#isTrustedProxy = isTrustedProxy;
  }

  /**
   * Counts a new connection until it closes. Over the bounds it joins the reserve, and the oldest connection of a full
   * reserve is closed: half-sent requests cannot keep a health check out.
   */
  open(socket: Socket): void {
    const { remoteAddress } = socket;
    const isProxy = remoteAddress !== undefined && this.#isTrustedProxy(remoteAddress);
    const client = clientOf(remoteAddress);
    const count = this.#countOf.get(client) ?? 0;
    if (this.#count >= CONNECTIONS_MAX || (count >= PER_CLIENT_MAX && !isProxy)) {
      this.#openReserved(socket);
      return;
    }
    this.#count += 1;
    this.#countOf.set(client, count + 1);
    socket.once('close', () => this.#close(client));
  }

  /**
   * Lets a request through, if it may be answered on its connection.
   *
   * @throws {ServiceError} SERVICE_UNAVAILABLE when the connection is of the reserve and the request is no health check.
   */
  admit({ socket, url = '' }: IncomingMessage): void {
    if (!this.isReserved(socket)) return;
    const [path = ''] = url.split('?', 1);
    if (HEALTH_PATHS.includes(path)) return;
    throw new ServiceError(
      'SERVICE_UNAVAILABLE',
      'Cannot answer on this connection: too many are open, in all or from this address',
    );
  }

  isReserved(socket: Duplex): boolean {
    return this.#reserve.has(socket);
  }

  #openReserved(socket: Socket): void {
    if (this.#reserve.size >= RESERVE_MAX) {
      const [oldest] = this.#reserve;
      oldest?.destroy();
      if (oldest !== undefined) this.#reserve.delete(oldest);
    }
    this.#reserve.add(socket);
    const timer = setTimeout(() => socket.destroy(), RESERVE_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#reserve.delete(socket);
    });
  }

  #close(client: string): void {
    this.#count -= 1;
    const left = (this.#countOf.get(client) ?? 1) - 1;
    if (left === 0) this.#countOf.delete(client);
    else this.#countOf.set(client, left);
  }
}
