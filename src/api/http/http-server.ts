/** The HTTP port: opens it, bounds connections and slow clients, and closes it without cutting answers short. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { ServiceError } from '../../domain/service-error.ts';
import { type IsTrustedProxy, trustNoProxy } from '../../domain/trusted-proxies.ts';
import { urlHost } from '../../lib/local-routes.ts';
import { type Logger, silentLogger } from '../../lib/logger.ts';
import { answerRaw, type Refusal, type RefusalOptions, Refusals } from './errors.ts';
import { clientAddressOf, clientOf } from './request-identity.ts';

const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz'];

/** Connections that may make any request. */
const CONNECTIONS_MAX = 2000;

/** Connections of one client; a trusted proxy, which forwards many clients, may use all of them. */
const PER_CLIENT_MAX = 256;

/** Further connections, for health checks alone. */
const RESERVE_MAX = 128;

/** How long a connection of the reserve may last, in milliseconds. */
const RESERVE_MS = 2000;

/** Counts connections, in all and by client address; those beyond the limits share a small reserve for health checks. */
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

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Interval of the checks for slow clients; checking 2,000 connections takes half a millisecond. */
const CHECK_INTERVAL_MS = 1000;
const KEEP_ALIVE_MS = 65_000;
const HEADER_BYTES_MAX = 16 * 1024;

/** Default of `stalledMs`. */
const STALLED_MS = 30_000;

/** Time limit for open responses at `stop`. */
const STOP_MS = 5000;

/** Accepts protocol upgrades, such as WebSockets. */
export interface Upgrades {
  /** Whether it accepts the upgrade; a request that it does not accept is answered as plain HTTP. */
  takes(request: IncomingMessage): boolean;

  /** Takes over the connection. @throws {ServiceError} the reason for a refusal, before anything is written. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;

  /** Closes its connections. Safe to call twice. */
  stop(): void;
}

/** Port, limits and request handlers of the HTTP server. */
export interface HttpServerOptions extends RefusalOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The application's `fetch`. */
  readonly fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
  /** Handler of protocol upgrades; without it, no request is upgraded. */
  readonly upgrades?: Upgrades;
  /** Proxies whose X-Forwarded-For is trusted. Default: none. */
  readonly isTrustedProxy?: IsTrustedProxy;
  /** Time after which a client that reads nothing of its response is disconnected, in milliseconds; 30 s when not given. */
  readonly stalledMs?: number;
}

/** The HTTP server; `stop` lets answers in progress end. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #log: Logger;
  readonly #refusals: Refusals;
  readonly #connections: ConnectionLimits;
  #server: Server | undefined;
  #isStopping = false;
  /** Upgraded connections, which Node no longer tracks. */
  readonly #upgraded = new Set<Duplex>();

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
    this.#refusals = new Refusals(options);
    this.#connections = new ConnectionLimits(options.isTrustedProxy);
  }

  /**
   * Opens the port.
   *
   * @returns the port, also when a free one was taken.
   * @throws {Error} naming address and port, and the cause.
   */
  async start(): Promise<number> {
    const server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CHECK_INTERVAL_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        maxHeaderSize: HEADER_BYTES_MAX,
        // For a request without Host, Node would send an answer of its own, without the envelope.
        requireHostHeader: false,
        // Of some headers, such as `Authorization`, Node would keep the first and drop the others.
        joinDuplicateHeaders: true,
        // RFC 9110, 7.8: a server may pass over a wish to go on in another protocol.
        shouldUpgradeCallback: (request) => this.#options.upgrades?.takes(request) ?? false,
      },
      (incoming, outgoing) => void this.#take(incoming, outgoing, closeIdle),
    );
    const closeIdle = () => {
      if (this.#isStopping) server.closeIdleConnections();
    };
    server.on('connection', (socket) => this.#connections.open(socket));
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      void this.#refuse(error, socket);
    });
    // Node would answer 417 without the envelope; a server may ignore an expectation that it does not know. RFC 9110, 10.1.1.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    await listen(server, this.#options);
    // For example, no file descriptor is left for the next connection; open connections are not affected.
    server.on('error', (error) => this.#log.error({ err: error }, 'http: connection not taken'));
    this.#isStopping = false;
    this.#server = server;
    return (server.address() as AddressInfo).port;
  }

  /** Stops accepting requests; open responses may finish within 5 s. Safe to call twice. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    this.#isStopping = true;
    this.#options.upgrades?.stop();
    const cancel = this.#options.clock.after(STOP_MS, () => {
      server.closeAllConnections();
      for (const socket of this.#upgraded) socket.destroy();
    });
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
    cancel();
  }

  /** @param closeIdle closes connections whose request ends after `stop`. */
  async #take(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    closeIdle: () => void,
  ): Promise<void> {
    outgoing.once('close', closeIdle);
    disconnectOnStall(outgoing, this.#options.stalledMs ?? STALLED_MS);
    if (this.#connections.isReserved(incoming.socket)) outgoing.shouldKeepAlive = false;
    const listener = getRequestListener((request) => this.#fetch(request, { incoming, outgoing }), {
      // For requests of HTTP/1.0, which may have no Host.
      hostname: urlHost(this.#options.host),
      errorHandler: (error) => this.#responseFor(error, incoming),
    });
    await listener(incoming, outgoing);
  }

  #fetch(request: Request, env: HttpBindings): Response | Promise<Response> {
    const { headers, httpVersion } = env.incoming;
    // RFC 9112, 3.2.
    if (headers.host === undefined && httpVersion !== '1.0') throw new RequestError('No Host');
    this.#connections.admit(env.incoming);
    return this.#options.fetch(request, env);
  }

  /** Answers bytes that Node cannot parse as HTTP with the error envelope. */
  async #refuse(error: NodeJS.ErrnoException, socket: Socket): Promise<void> {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const why = MESSAGES[error.code ?? ''] ?? 'it is not HTTP';
    answerRaw(
      socket,
      this.#options.clock,
      await this.#refusals.unreadable(why, socket.remoteAddress),
    );
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#adopt(socket);
    try {
      this.#connections.admit(request);
      const { upgrades } = this.#options;
      if (upgrades?.takes(request) !== true) {
        throw new ServiceError('VALIDATION_ERROR', 'Cannot go on in another protocol');
      }
      await upgrades.take(request, socket, head);
    } catch (error) {
      if (!(error instanceof ServiceError)) this.#log.error({ err: error }, 'http: upgrade failed');
      answerRaw(socket, this.#options.clock, this.#refusals.of(error));
    }
  }

  #adopt(socket: Duplex): void {
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  #clientAddress(incoming: IncomingMessage): string | undefined {
    const { isTrustedProxy = trustNoProxy } = this.#options;
    const { remoteAddress } = incoming.socket;
    const forwardedFor = incoming.headersDistinct['x-forwarded-for']?.join(',');
    return clientAddressOf({ remoteAddress, forwardedFor }, isTrustedProxy);
  }

  /** The response to a request that never reached the application, or whose connection may not be used. */
  async #responseFor(error: unknown, incoming: IncomingMessage): Promise<Response> {
    if (error instanceof RequestError) {
      const address = this.#clientAddress(incoming);
      return responseOf(await this.#refusals.unreadable(UNREADABLE_TARGET, address));
    }
    if (!(error instanceof ServiceError)) this.#log.error({ err: error }, 'http: request failed');
    return responseOf(this.#refusals.of(error));
  }
}

const UNREADABLE_TARGET = 'its Host or path is missing or not valid';

function responseOf({ status, headers, body }: Refusal): Response {
  return new Response(body, { status, headers });
}

/** Closes the connection of a client that reads nothing of its response: it would keep the connection and the file open. */
function disconnectOnStall(outgoing: ServerResponse, stalledMs: number): void {
  let takenBytes = 0;
  const timer = setInterval(() => {
    const { bytesWritten = 0 } = outgoing.socket ?? {};
    const isStalled = outgoing.writableLength > 0 && bytesWritten === takenBytes;
    takenBytes = bytesWritten;
    if (isStalled) outgoing.destroy();
  }, stalledMs);
  timer.unref();
  outgoing.once('close', () => clearInterval(timer));
}

const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'its headers are longer than 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'it came too slowly',
};

/** @throws {Error} naming address and port, and the cause. */
function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = REASONS[error.code ?? ''] ?? error.message;
      const message = `Cannot open HTTP port "${host}:${port}": ${why}`;
      reject(new Error(message, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or set PORT',
  EADDRNOTAVAIL: 'this machine has no such address; set HOST',
  EACCES: 'this user may not open it; set PORT to 1024 or more',
};
