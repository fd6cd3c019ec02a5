/** Serves drachtio's client protocol on a user agent, so that an unmodified drachtio-srf drives it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type Logger, silentLogger } from '../../lib/logger.ts';
import type { SipMessage } from '../message/message.ts';
import type { ServerRequest } from '../requests.ts';
import type { ServerInvite } from '../server-invite.ts';
import { type Flow, formatEndpoint } from '../transport/flow.ts';
import type { UserAgent } from '../user-agent.ts';
import type { CredentialsFor } from './answer-challenge.ts';
import { ApplicationLink } from './application-connection.ts';
import { ApplicationSession, type SessionCounts } from './application-session.ts';
import {
  type ApplicationCommand,
  FrameError,
  FrameReader,
  parseCommand,
} from './client-protocol.ts';
import { refuse } from './incoming-calls.ts';

/** drachtio-server version whose behaviour is served; clients send pings from v0.8.2 on. */
const SERVER_VERSION = 'v0.8.30';

/** One application, and a few that are still to be turned away. */
const CONNECTIONS_MAX = 8;

/** Constructor parameters of `DrachtioServer`. */
export interface DrachtioServerOptions {
  /** Started by its owner before the front, and stopped after it. */
  readonly userAgent: UserAgent;

  /** Secret of the `authenticate` command. */
  readonly secret: string;

  /** Listening address; default: loopback, because the protocol is not encrypted. */
  readonly address?: string;

  /** 0 for any free one. */
  readonly port: number;
  readonly clock?: Clock;
  readonly logger?: Logger;

  /** Lets the engine answer challenges (MD5 and SHA-256) instead of the application (MD5 alone). */
  readonly credentialsFor?: CredentialsFor;

  /** Called before each INVITE outside of dialogs goes on the wire, retries with credentials included. */
  readonly onInvite?: (invite: SipMessage, flow: Flow) => void;
}

/**
 * drachtio-server for one application: the verbs `authenticate`, `ping`, `route`, `remove_route` and `sip`; refuses
 * all others.
 *
 * A second application is refused while the first is connected. Without one, new calls get 503 and Retry-After. When
 * the application disconnects, its calls end: ringing ones are refused, outgoing ones cancelled, and each dialog
 * ended with BYE.
 */
export class DrachtioServer {
  readonly #options: DrachtioServerOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #session: ApplicationSession | undefined;
  #lastEnd: Promise<void> = Promise.resolve();

  constructor(options: DrachtioServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? silentLogger;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** @throws when the port cannot be listened on. */
  async start(): Promise<void> {
    const { address = '127.0.0.1', port, userAgent } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    userAgent.on('invite', this.#offer);
    userAgent.on('request', this.#deliver);
  }

  /** Ends the application's calls and closes the port. Safe to call twice. */
  async stop(): Promise<void> {
    const { userAgent } = this.#options;
    userAgent.off('invite', this.#offer);
    userAgent.off('request', this.#deliver);
    this.#endSession();
    for (const socket of this.#sockets) socket.destroy();
    await this.#lastEnd;
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The port it listens on; 0 before `start` and after `stop`. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Counts of the application's dialogs and requests; undefined while none is connected. */
  get counts(): SessionCounts | undefined {
    return this.#session?.counts;
  }

  readonly #offer = (invite: ServerInvite): void => {
    if (this.#session === undefined) refuse(invite);
    else this.#session.offer(invite);
  };

  readonly #deliver = (request: ServerRequest): void => {
    if (this.#session === undefined) request.respond(481);
    else this.#session.deliver(request);
  };

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    void new ApplicationConnection({
      socket,
      clock: this.#clock,
      logger: this.#logger,
      logIn: (secret, link) => this.#logIn(secret, link),
      onClosed: (session) => {
        this.#sockets.delete(socket);
        if (session !== undefined && session === this.#session) this.#endSession();
      },
    });
  }

  #logIn(secret: string, link: ApplicationLink): LogIn {
    const { credentialsFor, onInvite, userAgent } = this.#options;
    if (!isSame(secret, this.#options.secret)) return { refusal: 'wrong secret' };
    if (this.#session !== undefined) return { refusal: 'another application is connected' };

    const parts = { userAgent, link, clock: this.#clock, credentialsFor, onInvite };
    const session = new ApplicationSession(parts);
    this.#session = session;
    const addresses = userAgent.addresses.map(
      (address) => `${address.protocol.toLowerCase()}/${formatEndpoint(address)}`,
    );
    this.#logger.debug({ addresses }, 'application connected');
    return { session, details: [addresses.join(','), SERVER_VERSION] };
  }

  #endSession(): void {
    if (this.#session === undefined) return;
    const { counts } = this.#session;
    this.#lastEnd = this.#session.end();
    this.#session = undefined;
    this.#logger.debug({ counts }, 'application disconnected');
  }
}

/** Compares in constant time. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Time limit of the log-in. */
const LOG_IN_MS_MAX = 5_000;

/** Result of a log-in: a session and the details for the client, or the reason of the refusal. */
type LogIn =
  | { readonly session: ApplicationSession; readonly details: readonly string[] }
  | { readonly refusal: string };

interface ApplicationConnectionOptions {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logIn: (secret: string, link: ApplicationLink) => LogIn;

  /** Called once, after the socket has closed; without a session if the log-in failed. */
  readonly onClosed: (session: ApplicationSession | undefined) => void;
}

class ApplicationConnection {
  readonly #options: ApplicationConnectionOptions;
  readonly #link: ApplicationLink;
  readonly #frames = new FrameReader();
  readonly #cancelTimer: () => void;
  #session: ApplicationSession | undefined;

  constructor(options: ApplicationConnectionOptions) {
    const { socket, clock, logger } = options;
    this.#options = options;
    this.#link = new ApplicationLink({ socket, clock });
    this.#cancelTimer = clock.after(LOG_IN_MS_MAX, () => socket.destroy());
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => logger.warn({ err: error }, 'application connection failed'));
    socket.on('close', () => {
      this.#cancelTimer();
      options.onClosed(this.#session);
    });
  }

  #read(chunk: Buffer): void {
    try {
      for (const payload of this.#frames.push(chunk)) this.#handle(parseCommand(payload));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#options.logger.warn({ reason: error.message }, 'application connection broken');
      this.#options.socket.destroy();
    }
  }

  #handle(command: ApplicationCommand): void {
    if (this.#session !== undefined) void this.#session.handle(command);
    else if (command.verb === 'authenticate') this.#logIn(command);
    else this.#refuse(command.id, 'not authenticated');
  }

  #logIn({ id, fields }: ApplicationCommand): void {
    const outcome = this.#options.logIn(fields[0] ?? '', this.#link);
    if ('refusal' in outcome) {
      this.#refuse(id, outcome.refusal);
      return;
    }
    this.#cancelTimer();
    this.#session = outcome.session;
    this.#link.accept(id, ...outcome.details);
  }

  #refuse(commandId: string, reason: string): void {
    this.#options.logger.warn({ reason }, 'application refused');
    this.#link.refuse(commandId, reason);
    this.#link.end();
  }
}
