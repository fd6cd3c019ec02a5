/** The WebSockets by which browsers call: who may open one, how many there are, and when they end. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Upgrades } from '../api/http/http-server.ts';
import { BROWSER_CALLS_MAX, type BrowserPhone } from '../domain/call/browser-phone.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { isOurOrigin } from './dashboard-requests.ts';
import type { OperatorSessions } from './operator-sessions.ts';
import { PhoneSocket } from './phone-socket.ts';
import type { PhoneTicket, PhoneTickets } from './phone-tickets.ts';

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

export interface PhoneSocketsOptions {
  readonly phone: BrowserPhone;
  readonly tickets: PhoneTickets;
  readonly sessions: Pick<OperatorSessions, 'isAlive'>;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

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
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const ticket = this.#admit(request);
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#welcome(webSocket, request, ticket),
    );
  }

  /** Closes them all. Safe to call twice. */
  stop(): void {
    for (const socket of [...this.#sockets]) socket.close(GOING_AWAY, 'the server stops');
  }

  #admit(request: IncomingMessage): PhoneTicket {
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
    if (ticket === undefined || !sessions.isAlive(ticket.sessionHash)) {
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
    const check = () => {
      if (!socket.isOpen) return;
      if (sessions.isAlive(ticket.sessionHash)) {
        socket.probe();
        cancelCheck = clock.after(CHECK_MS, check);
        return;
      }
      const close = () => socket.close(SIGNED_OUT, 'signed out');
      // A far end that never answers BYE does not keep the page connected.
      cancelCheck = clock.after(CHECK_MS, close);
      line.hangUp().then(close, close);
    };
    check();
  }
}

/** Only its path and query are read. */
function urlOf(request: IncomingMessage): URL {
  const path = request.url ?? '';
  return URL.canParse(path, 'http://localhost')
    ? new URL(path, 'http://localhost')
    : new URL('http://localhost');
}
