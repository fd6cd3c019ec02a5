/** Requests that the application sends, inside dialogs and outside of them. */

import { randomUUID } from 'node:crypto';
import { urlHost } from '../../lib/local-routes.ts';
import type { ClientInvite } from '../client-invite.ts';
import type { Dialog } from '../dialog/dialog.ts';
import { type CredentialsFor, DigestClient } from '../digest.ts';
import { SipMessage } from '../message/message.ts';
import { SipError } from '../message/status.ts';
import type { OutgoingReinvite, OutgoingRequest } from '../own-messages.ts';
import type { Flow } from '../transport/flow.ts';
import type { UserAgent } from '../user-agent.ts';
import {
  type ApplicationLink,
  type ApplicationMessage,
  headerOf,
  partsOf,
} from './application-connection.ts';
import type { DialogRegister } from './dialog-register.ts';

/** More requests in progress than one application could mean. */
const OUTSTANDING_MAX = 10_000;

/** One request of the application, from its command to its final response. */
interface Exchange {
  readonly commandId: string;
  readonly transactionId: string;

  /** Empty outside of dialogs. */
  readonly dialogId: string;
  readonly message: ApplicationMessage;
  flow: Flow | undefined;
  isConfirmed: boolean;
}

/** Constructor parameters of `OutgoingRequests`. */
export interface OutgoingRequestsOptions {
  readonly userAgent: UserAgent;
  readonly link: ApplicationLink;
  readonly dialogs: DialogRegister;
  readonly credentialsFor: CredentialsFor | undefined;
  /** Called before each INVITE outside of dialogs goes on the wire. */
  readonly onInvite: ((invite: SipMessage, flow: Flow) => void) | undefined;
}

/** Requests of the application in progress, by drachtio's transaction identifier. */
export class OutgoingRequests {
  readonly #options: OutgoingRequestsOptions;
  readonly #invites = new Map<string, ClientInvite>();
  #outstandingCount = 0;
  #isStopped = false;

  constructor(options: OutgoingRequestsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#outstandingCount;
  }

  /** Sends a request outside dialogs, through `proxy` unless it is empty. */
  async send(commandId: string, message: ApplicationMessage, proxy: string): Promise<void> {
    const exchange = this.#begin(commandId, message, '');
    const { userAgent } = this.#options;
    const options = this.#optionsFor(message, proxy);
    await this.#count(async () => {
      if (message.method === 'INVITE') {
        await this.#call(exchange, userAgent.invite({ ...options, acknowledge: 'manual' }));
        return;
      }
      const response = await userAgent.request({
        ...options,
        method: message.method,
        onSent: (request, flow) => this.#confirm(exchange, request, flow),
        onProvisional: (provisional) => this.#respond(exchange, provisional, ''),
      });
      this.#respond(exchange, response, '');
    });
  }

  /** Sends a request inside a dialog. */
  async sendInDialog(
    commandId: string,
    message: ApplicationMessage,
    dialog: Dialog,
    dialogId: string,
  ): Promise<void> {
    const exchange = this.#begin(commandId, message, dialogId);
    const parts: OutgoingReinvite = {
      ...partsOf(message),
      acknowledge: 'manual',
      onSent: (request, flow) => this.#confirm(exchange, request, flow),
      onProvisional: (provisional) => this.#respond(exchange, provisional, dialogId),
    };
    await this.#count(async () => {
      const response =
        message.method === 'BYE'
          ? await dialog.bye(partsOf(message))
          : await dialog.request(message.method, parts);
      if (response !== null) this.#respond(exchange, response, dialogId);
      else this.#options.link.refuse(commandId, 'unable to find dialog');
    });
  }

  /** Cancels a call; false for an unknown transaction. */
  cancel(commandId: string, transactionId: string): boolean {
    const invite = this.#invites.get(transactionId);
    if (invite === undefined) return false;
    invite.cancel();
    this.#options.link.accept(commandId);
    return true;
  }

  /** Cancels every call in progress; calls that are answered after all get BYE. */
  cancelAll(): void {
    this.#isStopped = true;
    for (const invite of [...this.#invites.values()]) invite.cancel();
  }

  /**
   * All options but the method.
   *
   * @param proxy SIP URI or `host:port`; empty for routing by Request-URI and Route.
   */
  #optionsFor(message: ApplicationMessage, proxy: string): Omit<OutgoingRequest, 'method'> {
    const { credentialsFor, userAgent } = this.#options;
    const from = headerOf(message, 'from');
    const to = headerOf(message, 'to');
    const callId = headerOf(message, 'call-id');
    const sequence = Number.parseInt(headerOf(message, 'cseq') ?? '', 10);
    const route = routeOf(message, proxy);
    return {
      ...partsOf(message),
      uri: message.uri,
      ...(from !== undefined && {
        from: withHost(from, urlHost(userAgent.ownEndpoint?.address ?? 'localhost')),
      }),
      ...(to !== undefined && { to: withHost(to, hostOf(message.uri)) }),
      ...(callId !== undefined && { callId }),
      ...(sequence > 0 && { sequence }),
      ...(route.length > 0 && { route }),
      ...(credentialsFor !== undefined && {
        digest: new DigestClient({
          credentialsFor: (realm) => credentialsFor(realm, message.uri, from),
        }),
      }),
    };
  }

  #begin(commandId: string, message: ApplicationMessage, dialogId: string): Exchange {
    const transactionId = randomUUID();
    return { commandId, transactionId, dialogId, message, flow: undefined, isConfirmed: false };
  }

  async #count(exchange: () => Promise<void>): Promise<void> {
    if (this.#outstandingCount >= OUTSTANDING_MAX) throw new Error('too many requests in progress');
    this.#outstandingCount++;
    try {
      await exchange();
    } finally {
      this.#outstandingCount--;
    }
  }

  async #call(exchange: Exchange, invite: ClientInvite): Promise<void> {
    const { transactionId } = exchange;
    this.#invites.set(transactionId, invite);
    invite.on('sent', (request, flow) => {
      this.#options.onInvite?.(request, flow);
      this.#confirm(exchange, request, flow);
    });
    invite.on('provisional', (response, dialog) => this.#progress(exchange, response, dialog));
    invite.on('accepted', (response, dialog) => this.#accepted(exchange, response, dialog));
    invite.on('rejected', (response) => this.#respond(exchange, response, ''));
    try {
      await invite.outcome;
    } finally {
      this.#invites.delete(transactionId);
    }
  }

  /**
   * The client sends PRACK for every RSeq, which the engine has done already; Require still marks the response as
   * reliable.
   */
  #progress(exchange: Exchange, response: SipMessage, dialog: Dialog | null): void {
    const dialogId = dialog === null ? '' : this.#options.dialogs.register(dialog);
    this.#respond(exchange, response.clone().delete('rseq'), dialogId);
  }

  #accepted(exchange: Exchange, response: SipMessage, dialog: Dialog): void {
    if (this.#isStopped) {
      void hangUp(dialog);
      return;
    }
    // The client fails an answer without Contact, and leaves the peer in a call; the dialog has a target in any case.
    const answer =
      response.get('contact') === undefined
        ? response.clone().add('contact', `<${dialog.data.remoteTarget}>`)
        : response;
    this.#respond(exchange, answer, this.#options.dialogs.register(dialog));
  }

  /** Reports the request as sent to the application; once, even if it is sent again. */
  #confirm(exchange: Exchange, message: SipMessage, flow = exchange.flow): void {
    exchange.flow = flow;
    if (exchange.isConfirmed) return;
    exchange.isConfirmed = true;
    this.#options.link.confirm(exchange.commandId, { ...exchange, message });
  }

  #respond(exchange: Exchange, response: SipMessage, dialogId: string): void {
    this.#confirm(exchange, requestOf(exchange.message, response));
    const { flow, transactionId } = exchange;
    this.#options.link.deliver({ message: response, flow, transactionId, dialogId });
  }
}

/** Ends a call that was answered after its application had disconnected. */
async function hangUp(dialog: Dialog): Promise<void> {
  try {
    await dialog.ack();
  } catch (error) {
    // The peer is unreachable: BYE fails too, and the dialog ends.
    if (!(error instanceof SipError)) throw error;
  }
  await dialog.bye();
}

/** The request that a response answers, as far as the application needs it. */
function requestOf(message: ApplicationMessage, response: SipMessage): SipMessage {
  const request = new SipMessage();
  request.method = message.method;
  request.uri = message.uri;
  for (const name of ['from', 'to', 'call-id', 'cseq']) {
    request.add(name, response.get(name) ?? '');
  }
  return request;
}

/** The client writes `localhost` for an unknown own address. */
const LOCALHOST = /(sips?:(?:[^@\s<>]*@)?)localhost(?::\d+)?(?=[;>\s]|$)/i;

function withHost(address: string, host: string): string {
  return address.replace(LOCALHOST, (_, start: string) => `${start}${host}`);
}

function hostOf(uri: string): string {
  return /^[a-z]+:(?:[^@]*@)?([^;?]+)/i.exec(uri)?.[1] ?? 'localhost';
}

/** Route set: the proxy, then the application's own Route headers. */
function routeOf(message: ApplicationMessage, proxy: string): string[] {
  const own = message.headers.filter(([name]) => name === 'route').map(([, value]) => value);
  return proxy === '' ? own : [`<${asLooseRouter(proxy)}>`, ...own];
}

function asLooseRouter(proxy: string): string {
  const uri = /^sips?:/i.test(proxy) ? proxy : `sip:${proxy}`;
  return /;lr(?:[;=]|$)/i.test(uri) ? uri : `${uri};lr`;
}
