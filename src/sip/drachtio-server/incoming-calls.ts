/** Calls that peers offer and that the application has not yet answered. */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import type { ServerInvite } from '../server-invite.ts';
import type { ApplicationLink } from './application-connection.ts';
import { type ApplicationMessage, headerOf, responsePartsOf } from './client-protocol.ts';
import type { DialogRegister } from './dialog-register.ts';

/** More calls ringing at once than one process could ever answer. */
const RINGING_MAX = 10_000;

/** Proxies give up after three minutes of ringing. RFC 3261, timer C. */
const RING_MS_MAX = 300_000;

/** A tag in To: letters and digits, as applications write them. */
const TAG = /;\s*tag=([A-Za-z0-9]{8,64})\s*$/;

interface Ringing {
  readonly transactionId: string;
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
  readonly #clock: Clock;
  readonly #link: ApplicationLink;
  readonly #dialogs: DialogRegister;
  readonly #ringing = new Map<string, Ringing>();

  constructor(options: IncomingCallsOptions) {
    this.#clock = options.clock;
    this.#link = options.link;
    this.#dialogs = options.dialogs;
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
    const cancelTimer = this.#clock.after(RING_MS_MAX, () => {
      this.#ended(transactionId, invite, cancelOf(invite.request));
      invite.reject(480);
    });
    this.#ringing.set(transactionId, { transactionId, invite, cancelTimer });
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
    const dialogId = hasDialog ? this.#dialogs.register(invite.dialog) : '';
    this.#link.confirm(commandId, { message, flow: invite.flow, transactionId, dialogId });
    return true;
  }

  /** Refuses all calls that ring. */
  refuseAll(): void {
    for (const { transactionId, invite } of [...this.#ringing.values()]) {
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
    const dialogId = this.#dialogs.register(invite.dialog);
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
    this.#link.deliver({ message, flow: invite.flow, transactionId, dialogId });
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
