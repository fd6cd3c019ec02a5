/** Session of one application: everything between the user agent and its drachtio client from log-in to disconnect. */
import type { Clock } from '../../lib/clock.ts';
import { SipError } from '../message/status.ts';
import type { ServerRequest } from '../requests.ts';
import type { ServerInvite } from '../server-invite.ts';
import type { UserAgent } from '../user-agent.ts';
import type { CredentialsFor } from './answer-challenge.ts';
import type { ApplicationLink } from './application-connection.ts';
import {
  type ApplicationCommand,
  type ApplicationMessage,
  parseApplicationMessage,
  partsOf,
} from './client-protocol.ts';
import { DialogRegister, PendingRequests } from './dialog-register.ts';
import { IncomingCalls, refuse } from './incoming-calls.ts';
import { OutgoingRequests, type OutgoingRequestsOptions } from './outgoing-requests.ts';

/** Reason by which the client recognises that a dialog has ended. */
const NO_DIALOG = 'unable to find dialog';

interface ApplicationSessionOptions {
  readonly userAgent: UserAgent;
  readonly link: ApplicationLink;
  readonly clock: Clock;
  readonly credentialsFor: CredentialsFor | undefined;
  readonly onInvite: OutgoingRequestsOptions['onInvite'];
}

/** How much an application has in progress. */
export interface SessionCounts {
  readonly dialogs: number;
  readonly ringing: number;
  readonly pending: number;
  readonly outgoing: number;
}

/** One logged-in application. */
export class ApplicationSession {
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

  /** Hands a request outside of any dialog over, if the application takes those. */
  deliver(request: ServerRequest): void {
    const { method } = request.request;
    if (this.#routes.has(method.toLowerCase())) this.#pending.deliver(request, '');
    else request.respond(method === 'REGISTER' ? 405 : 481);
  }

  /** Carries one command out; what cannot be is refused with its reason. */
  async handle(command: ApplicationCommand): Promise<void> {
    try {
      await this.#carryOut(command);
    } catch (error) {
      // The client's own mistakes, and dialogs that ended meanwhile, are for the client to know.
      const isGone = error instanceof SipError && error.status === 481;
      this.#link.refuse(command.id, isGone ? NO_DIALOG : messageOf(error));
    }
  }

  /** Ends everything: refuses, cancels, or sends BYE. */
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

  /** The client acknowledges every final response; the engine sees to those that are no 2xx itself. */
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
