/** The WebSockets by which browsers call: who may open one, how many there are, and when they end. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { Upgrades } from '../api/http/http-server.ts';
import { BROWSER_CALLS_MAX, type BrowserPhone } from '../domain/call/live-sound.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type {
  MessageSocket,
  MessageSocketListener,
  SocketEnd,
} from '../lib/process/message-socket.ts';
import { isOurOrigin } from './dashboard-requests.ts';
import type { OperatorSessions, PhoneTicket, PhoneTickets } from './operator-sessions.ts';

/** Path of the WebSocket for SIP from the browser. */
export const PHONE_PATH = '/dashboard/sip';

/** RFC 7118, 4.1. */
const SUBPROTOCOL = 'sip';

/** A browser's offer of one audio stream has 3 KiB. */
const MESSAGE_BYTES_MAX = 16 * 1024;

/** How long a session may be over before its call is, and a lost browser before it is noticed. */
const CHECK_MS = 2_000;

/** RFC 6455, 7.4: going away, and one of our own. */
const GOING_AWAY = 1001;
const SIGNED_OUT = 4001;

/** Limits, tickets and the SIP side of browser calls. */
export interface PhoneSocketsOptions {
  readonly phone: BrowserPhone;
  readonly tickets: PhoneTickets;
  readonly sessions: Pick<OperatorSessions, 'isAlive'>;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** WebSockets of browser calls (RFC 7118); each needs a ticket. */
export class PhoneSockets implements Upgrades {
  readonly #options: PhoneSocketsOptions;
  readonly #sockets = new Set<PhoneSocket>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: () => SUBPROTOCOL,
  });

  constructor(options: PhoneSocketsOptions) {
    this.#options = options;
  }

  takes(request: IncomingMessage): boolean {
    return urlOf(request).pathname === PHONE_PATH;
  }

  /** @throws {ServiceError} FORBIDDEN, VALIDATION_ERROR, SERVICE_UNAVAILABLE or UNAUTHORIZED. */
  async take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const ticket = await this.#admit(request);
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#welcome(webSocket, request, ticket),
    );
  }

  /** Closes them all. Safe to call twice. */
  stop(): void {
    for (const socket of [...this.#sockets]) socket.close(GOING_AWAY, 'the server stops');
  }

  async #admit(request: IncomingMessage): Promise<PhoneTicket> {
    const { publicUrl, sessions, tickets } = this.#options;
    const { origin, host, 'sec-websocket-protocol': protocols = '' } = request.headers;
    if (!isOurOrigin(origin, { publicUrl, host })) {
      throw new ServiceError('FORBIDDEN', 'Cannot take a call of another page: foreign Origin');
    }
    if (!protocols.split(',').some((name) => name.trim().toLowerCase() === SUBPROTOCOL)) {
      throw new ServiceError('VALIDATION_ERROR', 'Cannot open the connection: expected SIP');
    }
    if (this.#sockets.size >= BROWSER_CALLS_MAX) {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Cannot open the connection: too many are');
    }
    const ticket = tickets.take(urlOf(request).searchParams.get('ticket') ?? '');
    if (ticket === undefined || !(await sessions.isAlive(ticket.sessionHash))) {
      throw new ServiceError(
        'UNAUTHORIZED',
        'Cannot open the connection: the ticket is used, old or wrong',
      );
    }
    return ticket;
  }

  #welcome(webSocket: WebSocket, request: IncomingMessage, ticket: PhoneTicket): void {
    const { phone, sessions, clock, log } = this.#options;
    const socket = new PhoneSocket({
      webSocket,
      request,
      clock,
      onClosed: () => {
        this.#sockets.delete(socket);
        cancelCheck();
      },
    });
    this.#sockets.add(socket);
    let cancelCheck: () => void = () => undefined;
    const line = phone.connect(socket, ticket);
    log.info({ agentId: ticket.agentId }, 'dashboard: browser is ready to call');
    const check = async () => {
      if (!socket.isOpen) return;
      // Where the database cannot be read, the call goes on.
      if (await sessions.isAlive(ticket.sessionHash).catch(() => true)) {
        if (!socket.isOpen) return;
        socket.probe();
        cancelCheck = clock.after(CHECK_MS, () => void check());
        return;
      }

      const close = () => socket.close(SIGNED_OUT, 'signed out');
      // A far end that never answers BYE does not keep the page connected.
      cancelCheck = clock.after(CHECK_MS, close);
      line.hangUp().then(close, close);
    };
    void check();
  }
}

/** URL of a request; only its path and query are read. */
function urlOf(request: IncomingMessage): URL {
  const path = request.url ?? '';
  return URL.canParse(path, 'http://localhost')
    ? new URL(path, 'http://localhost')
    : new URL('http://localhost');
}

/** A call has some ten messages; a key pressed by SIP INFO has two. */
const MESSAGES_A_SECOND_MAX = 50;

/** RFC 6455, 7.4.1. */
const POLICY_VIOLATION = 1008;

/** Unanswered pings in a row after which the connection counts as lost; a phone in a lift comes back sooner. */
const MISSED_MAX = 8;

/** How long a close may take to be answered. */
const CLOSE_MS = 2_000;

const NO_LISTENER: MessageSocketListener = { message: () => undefined, closed: () => undefined };

/** One browser's WebSocket as a SIP transport: whole messages, a limit of messages a second, and pings that find a lost browser. */
export class PhoneSocket implements MessageSocket {
  readonly remote: SocketEnd;
  readonly local: SocketEnd;
  readonly isSecure: boolean;
  readonly #webSocket: WebSocket;
  readonly #clock: Clock;
  #listener: MessageSocketListener = NO_LISTENER;
  #secondEndsAtMs = 0;
  #messages = 0;
  #missed = 0;

  constructor(options: {
    readonly webSocket: WebSocket;
    readonly request: IncomingMessage;
    readonly clock: Clock;
    readonly onClosed: () => void;
  }) {
    const { webSocket, request, clock, onClosed } = options;
    const { remoteAddress, remotePort, localAddress, localPort } = request.socket;
    this.remote = endOf(remoteAddress, remotePort);
    this.local = endOf(localAddress, localPort);
    this.isSecure = request.headers.origin?.startsWith('https:') ?? false;
    this.#webSocket = webSocket;
    this.#clock = clock;
    webSocket.on('message', (data) => this.#receive(data));
    webSocket.on('pong', () => {
      this.#missed = 0;
    });
    // Errors such as an overlong message: ws closes the socket itself, and emits `close`.
    webSocket.on('error', () => undefined);
    webSocket.once('close', () => {
      onClosed();
      this.#listener.closed();
    });
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  get unsentBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  send(bytes: Buffer): void {
    // A text frame must be UTF-8, and text is what browsers expect. RFC 7118, 5.
    if (this.isOpen) this.#webSocket.send(bytes, { binary: !isUtf8(bytes) });
  }

  listen(listener: MessageSocketListener): void {
    this.#listener = listener;
  }

  close(status: number, why: string): void {
    this.#webSocket.close(status, why);
    const cancel = this.#clock.after(CLOSE_MS, () => this.#webSocket.terminate());
    this.#webSocket.once('close', cancel);
  }

  /** Asks whether the browser is there; closes when it has not answered for long. */
  probe(): void {
    if (this.#missed >= MISSED_MAX) {
      this.#webSocket.terminate();
      return;
    }
    this.#missed += 1;
    this.#webSocket.ping();
  }

  #receive(data: RawData): void {
    if (!this.isOpen) return;
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#secondEndsAtMs) {
      this.#secondEndsAtMs = nowMs + 1000;
      this.#messages = 0;
    }
    this.#messages += 1;
    if (this.#messages > MESSAGES_A_SECOND_MAX) {
      this.close(POLICY_VIOLATION, 'too many messages');
      return;
    }
    this.#listener.message(bufferOf(data));
  }
}

function bufferOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** An IPv4-mapped IPv6 address counts as IPv4. */
function endOf(address = '', port = 0): SocketEnd {
  return { address: address.replace(/^::ffff:(?=\d+\.)/i, ''), port };
}
