/** SIP dialogs: requests of the peer inside them, and the table of all dialogs of a user agent. */
import type { Clock } from '../../lib/clock.ts';
import type { MessageIds, SipMessage } from '../message/message.ts';
import { SESSION_TYPES } from '../message/session-body.ts';
import { newResponse, type ResponseParts, type ServerReinvite } from '../own-messages.ts';
import { AckWait } from '../transaction/reliable-responses.ts';
import type { ServerTransaction } from '../transaction/server-transaction.ts';
import type { Arrival } from '../transaction/transaction-layer.ts';
import type { Flow } from '../transport/flow.ts';
import { type DialogOptions, dialogIdOfRequest } from './dialog-core.ts';
import { DialogOutgoing } from './dialog-outgoing.ts';
import { addAgreedSessionExpires, answerTerms, refusalOfInterval } from './session-timer.ts';

/** Made by the user agent, never by applications. */
export class Dialog extends DialogOutgoing {
  #reinvite: IncomingReinvite | undefined;

  constructor(options: DialogOptions) {
    super(options);
    this.stopAtEnd(() => this.#reinvite?.drop());
  }

  /** Handles a request whose tags match the dialog. */
  receive(arrival: Arrival): void {
    const { request, ids, flow } = arrival;
    const { remoteSequence } = this.data;
    if (this.state === 'ended') {
      this.#answer(arrival, request.method === 'BYE' ? 200 : 481);
      return;
    }
    // RFC 3261, 12.2.2: a request overtaken by a newer one is out of order.
    if (remoteSequence !== null && ids.sequence <= remoteSequence) {
      this.#answer(arrival, 500);
      return;
    }
    this.data = { ...this.data, remoteSequence: ids.sequence };
    if (flow.isReliable) this.noteFlow(flow);
    this.#dispatch(arrival);
  }

  /** Handles an ACK; false when no 2xx of ours has its number. */
  receiveAck(ack: SipMessage, sequence: number): boolean {
    const { ackWait } = this;
    if (ackWait?.sequence !== sequence) return false;
    if (!ackWait.isSettled) {
      ackWait.settle(ack);
      this.emit('ack', ack);
    }
    return true;
  }

  /** Retransmits a 2xx to INVITE until its ACK, and sends BYE when none comes. */
  awaitAck(
    sequence: number,
    transaction: ServerTransaction,
    ack: PromiseWithResolvers<SipMessage | null>,
  ): void {
    const { clock, timers } = this.context;
    this.ackWait = new AckWait({
      clock,
      timers,
      sequence,
      ack,
      transaction,
      onTimeout: () => void this.hangUp({ cause: 'no-ack', message: null }),
    });
  }

  /** Puts the session timer that follows from the request on a 2xx to it, and starts it. */
  agreeOnTimer(request: SipMessage, response: SipMessage): void {
    const terms = answerTerms(request, this.context.sessionTimer);
    if (terms !== null) addAgreedSessionExpires(response, terms, request);
    this.noteMinimum(request);
    this.sessionTimer.restart(terms, 'uas');
  }

  #dispatch(arrival: Arrival): void {
    const { request } = arrival;
    switch (request.method) {
      case 'BYE':
        this.#answer(arrival, 200);
        this.end({ cause: 'remote-bye', message: request });
        break;
      case 'INVITE':
        this.#receiveInvite(arrival);
        break;
      case 'UPDATE':
        this.#receiveUpdate(arrival);
        break;
      case 'PRACK':
        this.#answer(arrival, this.provisionals?.receive(request) === true ? 200 : 481);
        break;
      case 'OPTIONS':
        this.#answer(arrival, 200, { headers: { Accept: SESSION_TYPES } });
        break;
      default:
        this.#deliver(arrival, 603);
    }
  }

  #receiveInvite(arrival: Arrival): void {
    if (this.#refuseOffer(arrival)) return;
    const { ackWait, context } = this;
    // The ACK was lost or overtaken: a peer sends a new INVITE only after our 2xx.
    if (ackWait !== undefined && !ackWait.isSettled) {
      this.receiveAck(impliedAck(arrival.request, ackWait.sequence), ackWait.sequence);
    }
    this.pendingOffer = 'theirs';
    const reinvite = new IncomingReinvite({
      arrival,
      clock: context.clock,
      patienceMs: 64 * context.timers.t1Ms,
      answer: (status, parts) => this.#answer(arrival, status, parts),
      awaitAck: (ack) => this.awaitAck(arrival.ids.sequence, arrival.transaction, ack),
      onFinal: () => this.#settleReinvite(reinvite),
    });
    this.#reinvite = reinvite;
    if (!this.emit('reinvite', reinvite)) reinvite.respond(488);
  }

  #settleReinvite(reinvite: IncomingReinvite): void {
    if (this.#reinvite !== reinvite) return;
    this.#reinvite = undefined;
    this.pendingOffer = 'none';
  }

  /** An UPDATE without offer only refreshes; one with an offer is the application's to answer. */
  #receiveUpdate(arrival: Arrival): void {
    if (this.#refuseOffer(arrival)) return;
    if (arrival.request.body.length === 0) this.#answer(arrival, 200);
    else this.#deliver(arrival, 488);
  }

  /** RFC 3261, 14.2; RFC 3311, 5.2; RFC 4028, 9. */
  #refuseOffer(arrival: Arrival): boolean {
    const { pendingOffer, context, data, state } = this;
    const { request } = arrival;
    const isOffer = request.method === 'INVITE' || request.body.length > 0;
    const isTooEarly = request.method === 'INVITE' && state === 'early';
    if (isOffer && (pendingOffer === 'ours' || (isTooEarly && data.isInitiator))) {
      this.#answer(arrival, 491);
    } else if (isOffer && (pendingOffer === 'theirs' || isTooEarly)) {
      const retryAfterSeconds = Math.floor(10 * context.tokens.fraction());
      this.#answer(arrival, 500, { headers: { 'Retry-After': String(retryAfterSeconds) } });
    } else {
      const refusal = refusalOfInterval(request, context.sessionTimer);
      if (refusal === undefined) return false;
      this.#answer(arrival, 422, refusal);
    }
    return true;
  }

  #deliver(arrival: Arrival, refusal: number): void {
    const { request, flow } = arrival;
    const respond = (status: number, parts: ResponseParts = {}) =>
      this.#answer(arrival, status, parts);
    if (!this.emit('request', { request, flow, respond })) respond(refusal);
  }

  #answer({ request, flow, transaction }: Arrival, status: number, parts: ResponseParts = {}) {
    const { product } = this.context;
    const response = newResponse({ request, status, flow, product, parts });
    const isSessionChange = request.method === 'INVITE' || request.method === 'UPDATE';
    if (isSessionChange && status >= 200 && status < 300 && transaction.lastStatus < 200) {
      this.refreshTarget(request);
      this.noteAllow(request);
      if (response.body.length > 0) this.localSession = response.body;
      if (this.state === 'confirmed') this.agreeOnTimer(request, response);
    }
    transaction.respond(response);
    return response;
  }
}

/** Substitute for a lost ACK. */
function impliedAck(request: SipMessage, sequence: number): SipMessage {
  const ack = request.clone();
  ack.method = 'ACK';
  ack.body = Buffer.alloc(0);
  return ack.delete('content-type').set('cseq', `${sequence} ACK`);
}

interface IncomingReinviteOptions {
  readonly arrival: Arrival;
  readonly clock: Clock;
  /** How long the application may take. */
  readonly patienceMs: number;
  readonly answer: (status: number, parts: ResponseParts) => SipMessage;
  /** Repeats the 2xx until its ACK. */
  readonly awaitAck: (ack: PromiseWithResolvers<SipMessage | null>) => void;
  readonly onFinal: () => void;
}

/** An INVITE inside a dialog, from its arrival to its ACK. */
class IncomingReinvite implements ServerReinvite {
  readonly request: SipMessage;
  readonly flow: Flow;
  readonly #ack = Promise.withResolvers<SipMessage | null>();
  readonly #options: IncomingReinviteOptions;
  readonly #cancelPatience: () => void;

  /** A property, so that it also works when detached from the object, as for other requests. */
  readonly respond = (status: number, parts: ResponseParts = {}): SipMessage => {
    const { answer, arrival, awaitAck, onFinal } = this.#options;
    const isFirstFinal = arrival.transaction.lastStatus < 200 && status >= 200;
    const response = answer(status, parts);
    if (!isFirstFinal) return response;
    this.#cancelPatience();
    if (status < 300) awaitAck(this.#ack);
    else this.#ack.resolve(null);
    onFinal();
    return response;
  };

  constructor(options: IncomingReinviteOptions) {
    this.#options = options;
    this.request = options.arrival.request;
    this.flow = options.arrival.flow;
    options.arrival.transaction.user = { onCancel: () => this.drop() };
    this.#cancelPatience = options.clock.after(options.patienceMs, () => this.respond(500));
  }

  get acknowledged(): Promise<SipMessage | null> {
    return this.#ack.promise;
  }

  /** Refuses it, as it was taken back or its dialog is over. */
  drop(): void {
    if (this.#options.arrival.transaction.lastStatus < 200) this.respond(487);
  }
}

/** All dialogs, by Call-ID and tags. */
export class DialogTable {
  readonly #dialogs = new Map<string, Dialog>();

  get size(): number {
    return this.#dialogs.size;
  }

  get(id: string): Dialog | undefined {
    return this.#dialogs.get(id);
  }

  /** The dialog that a request of a peer is for. */
  ofRequest(ids: MessageIds): Dialog | undefined {
    return this.#dialogs.get(dialogIdOfRequest(ids));
  }

  /** Creates an early dialog, which stays in the table until its end. */
  open(options: Omit<DialogOptions, 'onOver'>): Dialog {
    const dialog: Dialog = new Dialog({
      ...options,
      onOver: () => this.#dialogs.delete(dialog.id),
    });
    this.#dialogs.set(dialog.id, dialog);
    return dialog;
  }

  stop(): void {
    for (const dialog of [...this.#dialogs.values()]) {
      dialog.end({ cause: 'stopped', message: null });
      dialog.onOver();
    }
  }
}
