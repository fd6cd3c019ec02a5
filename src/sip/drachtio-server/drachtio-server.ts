/** Serves drachtio's client protocol on a user agent, so that an unmodified drachtio-srf drives it. */
import { createServer, type Server, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type Logger, silentLogger } from '../../lib/logger.ts';
import { isSameSecret } from '../../lib/secrets.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { CredentialsFor } from '../digest.ts';
import type { SipMessage } from '../message/message.ts';
import { SipError } from '../message/status.ts';
import type { ServerRequest } from '../own-messages.ts';
import type { ServerInvite } from '../server-invite.ts';
import { type Flow, formatEndpoint } from '../transport/flow.ts';
import type { UserAgent } from '../user-agent.ts';
import {
  type ApplicationCommand,
  ApplicationLink,
  type ApplicationMessage,
  parseApplicationMessage,
  partsOf,
} from './application-connection.ts';
import { DialogRegister, IncomingCalls, PendingRequests, refuse } from './dialog-register.ts';
import { OutgoingRequests, type OutgoingRequestsOptions } from './outgoing-requests.ts';

/** drachtio-server version whose behaviour is served; clients send pings from v0.8.2 on. */
const SERVER_VERSION = 'v0.8.30';

/** Time limit of the log-in. */
const LOG_IN_MS_MAX = 5_000;

/** One application, and a few that are still to be turned away. */
const CONNECTIONS_MAX = 8;

/** Reason by which the client recognises that a dialog has ended. */
const NO_DIALOG = 'unable to find dialog';

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
    const cancelTimer = this.#clock.after(LOG_IN_MS_MAX, () => socket.destroy());
    let session: ApplicationSession | undefined;
    const link = new ApplicationLink({
      socket,
      clock: this.#clock,
      logger: this.#logger,
      onCommand: (command) => {
        if (session !== undefined) return void session.handle(command);
        session = this.#logIn(command, link);
        if (session !== undefined) cancelTimer();
      },
      onClosed: () => {
        cancelTimer();
        this.#sockets.delete(socket);
        if (session !== undefined && session === this.#session) this.#endSession();
      },
    });
  }

  /** @returns undefined when the application is refused. */
  #logIn(command: ApplicationCommand, link: ApplicationLink): ApplicationSession | undefined {
    const { credentialsFor, onInvite, userAgent } = this.#options;
    const reason = this.#refusalOf(command);
    if (reason !== undefined) {
      this.#logger.warn({ reason }, 'application refused');
      link.refuse(command.id, reason);
      link.end();
      return undefined;
    }
    const parts = { userAgent, link, clock: this.#clock, credentialsFor, onInvite };
    this.#session = new ApplicationSession(parts);
    const addresses = userAgent.addresses.map(
      (address) => `${address.protocol.toLowerCase()}/${formatEndpoint(address)}`,
    );
    this.#logger.debug({ addresses }, 'application connected');
    link.accept(command.id, addresses.join(','), SERVER_VERSION);
    return this.#session;
  }

  #refusalOf({ verb, fields }: ApplicationCommand): string | undefined {
    if (verb !== 'authenticate') return 'not authenticated';
    if (!isSameSecret(fields[0] ?? '', this.#options.secret)) return 'wrong secret';
    return this.#session === undefined ? undefined : 'another application is connected';
  }

  #endSession(): void {
    if (this.#session === undefined) return;
    const { counts } = this.#session;
    this.#lastEnd = this.#session.end();
    this.#session = undefined;
    this.#logger.debug({ counts }, 'application disconnected');
  }
}

interface ApplicationSessionOptions {
  readonly userAgent: UserAgent;
  readonly link: ApplicationLink;
  readonly clock: Clock;
  readonly credentialsFor: CredentialsFor | undefined;
  readonly onInvite: OutgoingRequestsOptions['onInvite'];
}

/** How much an application has in progress. */
interface SessionCounts {
  readonly dialogs: number;
  readonly ringing: number;
  readonly pending: number;
  readonly outgoing: number;
}

/** Links the user agent and one application, from its log-in to its disconnect. */
class ApplicationSession {
  readonly #link: ApplicationLink;
  readonly #routes = new Set<string>();
  readonly #pending: PendingRequests;
  readonly #dialogs: DialogRegister;
  readonly #calls: IncomingCalls;
  readonly #outgoing: OutgoingRequests;

  constructor(options: ApplicationSessionOptions) {
    const { clock, link } = options;
    this.#link = link;
    this.#pending = new PendingRequests(options);
    this.#dialogs = new DialogRegister({ link, pending: this.#pending });
    this.#calls = new IncomingCalls({ clock, link, dialogs: this.#dialogs });
    this.#outgoing = new OutgoingRequests({ ...options, dialogs: this.#dialogs });
  }

  get counts(): SessionCounts {
    return {
      dialogs: this.#dialogs.size,
      ringing: this.#calls.size,
      pending: this.#pending.size,
      outgoing: this.#outgoing.size,
    };
  }

  /** Hands a new call over, if the application takes calls. */
  offer(invite: ServerInvite): void {
    if (this.#routes.has('invite')) this.#calls.offer(invite);
    else refuse(invite);
  }

  /** Delivers a request outside of any dialog, if the application takes its method. */
  deliver(request: ServerRequest): void {
    const { method } = request.request;
    if (this.#routes.has(method.toLowerCase())) this.#pending.deliver(request, '');
    else request.respond(method === 'REGISTER' ? 405 : 481);
  }

  /** Carries out one command, or refuses it with the reason. */
  async handle(command: ApplicationCommand): Promise<void> {
    try {
      await this.#carryOut(command);
    } catch (error) {
      // The client's own mistakes, and dialogs that ended meanwhile, are for the client to know.
      const isGone = error instanceof SipError && error.status === 481;
      this.#link.refuse(command.id, isGone ? NO_DIALOG : messageOf(error));
    }
  }

  /** Ends all calls and requests: refuses, cancels, or sends BYE. */
  async end(): Promise<void> {
    this.#calls.refuseAll();
    this.#pending.refuseAll();
    this.#outgoing.cancelAll();
    await this.#dialogs.hangUpAll();
  }

  async #carryOut(command: ApplicationCommand): Promise<void> {
    const [method = ''] = command.fields;
    switch (command.verb) {
      case 'ping':
        return this.#link.accept(command.id);
      case 'route':
        return this.#route(command.id, method);
      case 'remove_route':
        this.#routes.delete(method.toLowerCase());
        return this.#link.accept(command.id);
      case 'sip':
        return this.#send(command);
      default:
        return this.#link.refuse(command.id, `unsupported verb ${command.verb}`);
    }
  }

  #route(commandId: string, method: string): void {
    const isMethod = /^[a-z]+$/i.test(method);
    if (isMethod) this.#routes.add(method.toLowerCase());
    if (isMethod) this.#link.accept(commandId);
    else this.#link.refuse(commandId, `cannot route ${method}`);
  }

  async #send({ id, fields, octets }: ApplicationCommand): Promise<void> {
    const [transactionId = '', dialogId = '', proxy = ''] = fields;
    const message = parseApplicationMessage(octets);
    if (message.status > 0) this.#answer(id, transactionId, message);
    else if (message.method === 'CANCEL') this.#cancel(id, transactionId);
    else if (message.method === 'ACK') await this.#acknowledge(id, dialogId, message);
    else if (dialogId === '') await this.#outgoing.send(id, message, proxy);
    else await this.#sendInDialog(id, dialogId, message);
  }

  #answer(id: string, transactionId: string, message: ApplicationMessage): void {
    const isSent =
      this.#calls.answer(id, transactionId, message) ||
      this.#pending.answer(id, transactionId, message);
    if (!isSent) this.#link.refuse(id, 'transaction not found');
  }

  #cancel(id: string, transactionId: string): void {
    if (!this.#outgoing.cancel(id, transactionId)) this.#link.refuse(id, 'transaction not found');
  }

  /** The client acknowledges every final response; the engine itself acknowledges all but 2xx. */
  async #acknowledge(id: string, dialogId: string, message: ApplicationMessage): Promise<void> {
    const dialog = this.#dialogs.find(dialogId);
    if (dialog === undefined) return this.#link.accept(id);
    const ack = await dialog.ack(partsOf(message));
    this.#link.confirm(id, { message: ack, flow: dialog.flow, transactionId: '', dialogId });
  }

  async #sendInDialog(id: string, dialogId: string, message: ApplicationMessage): Promise<void> {
    const dialog = this.#dialogs.find(dialogId);
    if (dialog === undefined) return this.#link.refuse(id, NO_DIALOG);
    await this.#outgoing.sendInDialog(id, message, dialog, dialogId);
  }
}
