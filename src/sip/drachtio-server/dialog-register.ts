/** Dialogs, unanswered incoming calls and pending requests of an application, by the identifiers that its client knows. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Dialog } from '../dialog/dialog.ts';
import type { DialogEnd } from '../dialog/dialog-core.ts';
import { SipMessage } from '../message/message.ts';
import type { ServerRequest } from '../own-messages.ts';
import type { ServerInvite } from '../server-invite.ts';
import type { Flow } from '../transport/flow.ts';
import {
  type ApplicationLink,
  type ApplicationMessage,
  headerOf,
  responsePartsOf,
} from './application-connection.ts';

/** Reason text of an end that the application did not ask for. */
const END_TEXTS: Readonly<Partial<Record<DialogEnd['cause'], string>>> = {
  'no-ack': 'ACK timeout',
  'session-expired': 'Session timer expired',
  'peer-gone': 'Peer is gone',
  stopped: 'Server is stopping',
};

interface DialogRegisterOptions {
  readonly link: ApplicationLink;
  readonly pending: PendingRequests;
}

/** Dialogs of an application, by drachtio's dialog identifier. */
export class DialogRegister {
  readonly #options: DialogRegisterOptions;
  readonly #dialogs = new Map<string, Dialog>();
  /** Client's identifiers of dialogs, by `Dialog.id`. */
  readonly #names = new Map<string, string>();

  constructor(options: DialogRegisterOptions) {
    this.#options = options;
  }

  find(id: string): Dialog | undefined {
    return this.#dialogs.get(id);
  }

  /** Number of dialogs, early ones included. */
  get size(): number {
    return this.#dialogs.size;
  }

  /** Registers a dialog, and from then on delivers its events. @returns its identifier. */
  register(dialog: Dialog): string {
    const known = this.#names.get(dialog.id);
    if (known !== undefined) return known;
    const id = randomUUID();
    if (dialog.state === 'ended') return id;
    this.#names.set(dialog.id, id);
    this.#dialogs.set(id, dialog);
    const pass = (request: ServerRequest) => this.#options.pending.deliver(request, id);
    dialog.on('request', pass);
    dialog.on('reinvite', pass);
    dialog.on('ack', (message) => this.#deliver(message, dialog.flow, id));
    dialog.on('ended', (end) => this.#ended(dialog, id, end));
    return id;
  }

  /** Ends every dialog with BYE. */
  async hangUpAll(): Promise<void> {
    await Promise.allSettled([...this.#dialogs.values()].map((dialog) => dialog.bye()));
  }

  #deliver(message: SipMessage, flow: Flow, dialogId: string): void {
    this.#options.link.deliver({ message, flow, transactionId: randomUUID(), dialogId });
  }

  #ended(dialog: Dialog, id: string, { cause, message }: DialogEnd): void {
    this.#dialogs.delete(id);
    this.#names.delete(dialog.id);
    const text = END_TEXTS[cause];
    if (cause === 'remote-bye' && message !== null) this.#deliver(message, dialog.flow, id);
    else if (text !== undefined) this.#options.link.deliverUnsolicited(byeFor(dialog, text), id);
  }
}

/** A BYE for the application only, which carries the reason of the end. */
function byeFor(dialog: Dialog, text: string): SipMessage {
  const bye = new SipMessage();
  bye.method = 'BYE';
  bye.uri = 'sip:application@localhost';
  return bye
    .add('from', `<sip:server@localhost>;tag=${dialog.data.localTag}`)
    .add('to', `<sip:peer@localhost>;tag=${dialog.data.remoteTag}`)
    .add('call-id', dialog.data.callId)
    .add('cseq', '1 BYE')
    .add('reason', `SIP;cause=200;text="${text}"`);
}

/** Time limit for the application's answer. Peers give up after 32 s (RFC 3261, timer F). */
const ANSWER_MS_MAX = 30_000;

/** More requests at once mean an attack, or an application that does not answer. */
const PENDING_MAX = 10_000;

interface Pending {
  readonly request: ServerRequest;
  readonly dialogId: string;
  readonly cancelTimer: () => void;
}

/** Requests that wait for the application's response, with a time limit each. */
export class PendingRequests {
  readonly #link: ApplicationLink;
  readonly #clock: Clock;
  readonly #pending = new Map<string, Pending>();

  constructor(options: { link: ApplicationLink; clock: Clock }) {
    this.#link = options.link;
    this.#clock = options.clock;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Delivers a request to the application; refuses it when too many are pending. */
  deliver(request: ServerRequest, dialogId: string): void {
    if (this.#pending.size >= PENDING_MAX) {
      request.respond(503, { headers: { 'retry-after': '10' } });
      return;
    }
    const transactionId = randomUUID();
    const cancelTimer = this.#clock.after(ANSWER_MS_MAX, () => {
      this.#pending.delete(transactionId);
      request.respond(500);
    });
    this.#pending.set(transactionId, { request, dialogId, cancelTimer });
    const { request: message, flow } = request;
    this.#link.deliver({ message, flow, transactionId, dialogId });
  }

  /** Sends the application's answer; false for an unknown transaction. */
  answer(commandId: string, transactionId: string, answer: ApplicationMessage): boolean {
    const pending = this.#pending.get(transactionId);
    if (pending === undefined) return false;
    const isOfRegistrar = pending.request.request.method === 'REGISTER';
    const parts = responsePartsOf(answer, isOfRegistrar);
    const message = pending.request.respond(answer.status, parts);
    if (answer.status >= 200) this.#forget(transactionId);
    const { dialogId, request } = pending;
    this.#link.confirm(commandId, { message, flow: request.flow, transactionId, dialogId });
    return true;
  }

  /** Refuses all that wait. */
  refuseAll(): void {
    for (const [transactionId, { request }] of [...this.#pending]) {
      this.#forget(transactionId);
      request.respond(500);
    }
  }

  #forget(transactionId: string): void {
    this.#pending.get(transactionId)?.cancelTimer();
    this.#pending.delete(transactionId);
  }
}

/** More calls ringing at once than one process could ever answer. */
const RINGING_MAX = 10_000;

/** Proxies give up after three minutes of ringing. RFC 3261, timer C. */
const RING_MS_MAX = 300_000;

/** A tag in To: letters and digits, as applications write them. */
const TAG = /;\s*tag=([A-Za-z0-9]{8,64})\s*$/;

interface Ringing {
  readonly invite: ServerInvite;
  readonly cancelTimer: () => void;
}

interface IncomingCallsOptions {
  readonly clock: Clock;
  readonly link: ApplicationLink;
  readonly dialogs: DialogRegister;
}

/** INVITEs that wait for the application. */
export class IncomingCalls {
  readonly #options: IncomingCallsOptions;
  readonly #ringing = new Map<string, Ringing>();

  constructor(options: IncomingCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#ringing.size;
  }

  /** Hands a call to the application. */
  offer(invite: ServerInvite): void {
    if (this.#ringing.size >= RINGING_MAX) {
      refuse(invite);
      return;
    }
    const transactionId = randomUUID();
    const cancelTimer = this.#options.clock.after(RING_MS_MAX, () => {
      this.#ended(transactionId, invite, cancelOf(invite.request));
      invite.reject(480);
    });
    this.#ringing.set(transactionId, { invite, cancelTimer });
    invite.on('cancelled', (message) => {
      this.#ended(transactionId, invite, message ?? cancelOf(invite.request));
    });
    this.#deliver(withContact(invite.request), invite, transactionId, '');
  }

  /** Sends the application's answer; false for an unknown transaction. */
  answer(commandId: string, transactionId: string, answer: ApplicationMessage): boolean {
    const invite = this.#ringing.get(transactionId)?.invite;
    if (invite === undefined) return false;
    if (answer.status >= 200) this.#forget(transactionId);
    // As drachtio-server does: applications may choose the tag, by To of their first response.
    const tag = TAG.exec(headerOf(answer, 'to') ?? '')?.[1];
    if (tag !== undefined) invite.chooseTag(tag);
    const message = this.#send(invite, answer);
    if (message === null) return false;
    const hasDialog = answer.status > 100 && answer.status < 300;
    const dialogId = hasDialog ? this.#options.dialogs.register(invite.dialog) : '';
    this.#options.link.confirm(commandId, { message, flow: invite.flow, transactionId, dialogId });
    return true;
  }

  /** Refuses all calls that ring. */
  refuseAll(): void {
    for (const [transactionId, { invite }] of [...this.#ringing]) {
      this.#forget(transactionId);
      refuse(invite);
    }
  }

  /** Tells the application that its answer is no longer needed. */
  #ended(transactionId: string, invite: ServerInvite, message: SipMessage): void {
    this.#forget(transactionId);
    this.#deliver(message, invite, transactionId, '');
  }

  #forget(transactionId: string): void {
    this.#ringing.get(transactionId)?.cancelTimer();
    this.#ringing.delete(transactionId);
  }

  #send(invite: ServerInvite, answer: ApplicationMessage): SipMessage | null {
    const parts = responsePartsOf(answer);
    if (answer.status >= 300) return invite.reject(answer.status, parts);
    if (answer.status >= 200) return invite.accept(parts).message;
    if (answer.status === 100) return invite.trying();

    return this.#progress(invite, answer);
  }

  /** The application asks for reliability by Require; whether the caller can do it, the engine knows. */
  #progress(invite: ServerInvite, answer: ApplicationMessage): SipMessage {
    const { headers: { require: required, ...headers } = {}, ...parts } = responsePartsOf(answer);
    const reliable = String(required).includes('100rel');
    const progress = invite.progress(answer.status, { ...parts, headers, reliable });
    const dialogId = this.#options.dialogs.register(invite.dialog);
    void progress.acknowledged.then((prack) => {
      if (prack !== null) this.#deliver(prack, invite, randomUUID(), dialogId);
    });
    return progress.message;
  }

  #deliver(
    message: SipMessage,
    invite: ServerInvite,
    transactionId: string,
    dialogId: string,
  ): void {
    this.#options.link.deliver({ message, flow: invite.flow, transactionId, dialogId });
  }
}

/** Refuses a call for want of an application. */
export function refuse(invite: ServerInvite): void {
  invite.reject(503, { headers: { 'retry-after': '10' } });
}

/** CANCEL for a caller whose connection was lost. */
function cancelOf(invite: SipMessage): SipMessage {
  const cancel = invite.clone();
  cancel.method = 'CANCEL';
  cancel.body = Buffer.alloc(0);
  return cancel.set('cseq', `${invite.cseq.seq} CANCEL`);
}

/** Callers of RFC 2543 may leave Contact out; the client cannot do without, and From serves. */
function withContact(invite: SipMessage): SipMessage {
  if (invite.contact !== undefined) return invite;
  return invite.clone().set('contact', `<${invite.from.uri}>`);
}
