/** Dialogs and pending requests of an application, by the identifiers that its client knows. */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Dialog } from '../dialog/dialog.ts';
import type { DialogEnd } from '../dialog/dialog-core.ts';
import { SipMessage } from '../message/message.ts';
import type { ServerRequest } from '../requests.ts';
import type { Flow } from '../transport/flow.ts';
import type { ApplicationLink } from './application-connection.ts';
import { type ApplicationMessage, responsePartsOf } from './client-protocol.ts';

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
  readonly #link: ApplicationLink;
  readonly #pending: PendingRequests;
  readonly #dialogs = new Map<string, Dialog>();
  /** By `Dialog.id`. */
  readonly #names = new Map<string, string>();

  constructor(options: DialogRegisterOptions) {
    this.#link = options.link;
    this.#pending = options.pending;
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
    const pass = (request: ServerRequest) => this.#pending.deliver(request, id);
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
    this.#link.deliver({ message, flow, transactionId: randomUUID(), dialogId });
  }

  #ended(dialog: Dialog, id: string, { cause, message }: DialogEnd): void {
    this.#dialogs.delete(id);
    this.#names.delete(dialog.id);
    const text = END_TEXTS[cause];
    if (cause === 'remote-bye' && message !== null) this.#deliver(message, dialog.flow, id);
    else if (text !== undefined) this.#link.deliverUnsolicited(byeFor(dialog, text), id);
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

/** More than that at once is no load but an attack, or an application that answers nothing. */
const PENDING_MAX = 10_000;

interface Pending {
  readonly transactionId: string;
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
    this.#pending.set(transactionId, { transactionId, request, dialogId, cancelTimer });
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
    if (answer.status >= 200) this.#forget(pending);
    const { dialogId, request } = pending;
    this.#link.confirm(commandId, { message, flow: request.flow, transactionId, dialogId });
    return true;
  }

  /** Refuses all that wait. */
  refuseAll(): void {
    for (const pending of [...this.#pending.values()]) {
      this.#forget(pending);
      pending.request.respond(500);
    }
  }

  #forget({ transactionId, cancelTimer }: Pending): void {
    cancelTimer();
    this.#pending.delete(transactionId);
  }
}
