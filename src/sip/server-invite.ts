/** Incoming call: the server side of an INVITE outside dialogs. */
import { EventEmitter } from 'node:events';
import type { Dialog, DialogTable } from './dialog/dialog.ts';
import { serverDialogState } from './dialog/dialog-core.ts';
import { type MessageIds, makeResponse, type SipMessage } from './message/message.ts';
import { SipError } from './message/status.ts';
import { newResponse, type ResponseParts } from './own-messages.ts';
import { ReliableProvisionals } from './transaction/reliable-responses.ts';
import type { ServerTransaction } from './transaction/server-transaction.ts';
import type { Arrival } from './transaction/transaction-layer.ts';
import type { Flow } from './transport/flow.ts';
import type { EngineContext } from './user-agent-options.ts';

interface ProgressParts extends ResponseParts {
  /** Sends it reliably (RFC 3262) if the peer supports that; always if the peer requires it. */
  readonly reliable?: boolean;
}

interface SentProgress {
  /** The provisional response as sent. */
  readonly message: SipMessage;
  /** The PRACK; null for an unreliable response, and without PRACK before the final response. */
  readonly acknowledged: Promise<SipMessage | null>;
}

interface ServerInviteEvents {
  /** The caller has given up; 487 has been sent. CANCEL or BYE; null after a lost connection. */
  cancelled: [SipMessage | null];
}

/** Limit of ringing; then the call is refused with 480. */
const RING_MS_MAX = 600_000;

/** Made by the user agent, never by applications. */
export class ServerInvite extends EventEmitter<ServerInviteEvents> {
  readonly request: SipMessage;
  readonly flow: Flow;
  readonly #context: EngineContext;
  readonly #dialogs: DialogTable;
  readonly #ids: MessageIds;
  readonly #transaction: ServerTransaction;
  #localTag: string;
  #state: 'ringing' | 'accepted' | 'rejected' | 'cancelled' = 'ringing';
  #dialog: Dialog | undefined;
  #cancelRinging: () => void = () => undefined;

  constructor(options: { context: EngineContext; dialogs: DialogTable; arrival: Arrival }) {
    super();
    const { context, arrival } = options;
    this.request = arrival.request;
    this.flow = arrival.flow;
    this.#localTag = context.tokens.tag();
    this.#context = context;
    this.#dialogs = options.dialogs;
    this.#ids = arrival.ids;
    this.#transaction = arrival.transaction;
    this.#transaction.user = {
      onCancel: (cancel) => this.#cancelled(cancel),
      onFailure: () => this.#cancelled(null),
    };
  }

  get state(): 'ringing' | 'accepted' | 'rejected' | 'cancelled' {
    return this.#state;
  }

  /** The tag of all responses but 100. */
  get localTag(): string {
    return this.#localTag;
  }

  /** Takes a tag of the application's; without effect once a response has carried another. */
  chooseTag(tag: string): void {
    if (this.#dialog === undefined) this.#localTag = tag;
  }

  /** The dialog: early from the first provisional response on, confirmed once accepted. */
  get dialog(): Dialog {
    if (this.#dialog !== undefined) return this.#dialog;
    const { request, flow } = this;
    const sequence = this.#context.tokens.sequence();
    const data = serverDialogState(request, this.#ids, this.localTag, sequence);
    const dialog = this.#dialogs.open({ context: this.#context, data, flow });
    this.#dialog = dialog;
    dialog.noteAllow(request);
    dialog.pendingOffer = request.body.length > 0 ? 'theirs' : 'none';
    // A caller may also end an early dialog with BYE. RFC 3261, 15.
    dialog.on('ended', ({ message }) => this.#cancelled(message));
    return dialog;
  }

  /** Sends 100 at once; the engine does so by itself after 150 ms without any response. */
  trying(): SipMessage {
    const response = makeResponse(this.request, 100);
    if (this.#state === 'ringing' && this.#transaction.lastStatus === 0) {
      this.#transaction.respond(response);
    }
    return response;
  }

  /**
   * Sends 101 to 199. A reliable one waits for its turn while another waits for its PRACK.
   *
   * @throws {RangeError} for another status, or when 16 reliable ones wait already.
   * @throws {SipError} 487 when the call is no longer ringing.
   * @throws {TypeError} when a part is not allowed in a message.
   */
  progress(status: number, parts: ProgressParts = {}): SentProgress {
    this.#demandRinging();
    if (status < 101 || status > 199) {
      throw new RangeError(`Cannot send progress ${status}: not 101 to 199`);
    }
    const { dialog } = this;
    const message = this.#newResponse(status, parts);
    if (message.body.length > 0) dialog.localSession = message.body;
    const isRequired = this.request.hasToken('require', '100rel');
    const mayBeReliable = parts.reliable === true && this.request.hasToken('supported', '100rel');
    if (isRequired || mayBeReliable) {
      // The offer is answered for good, so that UPDATE may bring the next. RFC 3262, 5.
      if (message.body.length > 0) dialog.pendingOffer = 'none';
      return { message, acknowledged: this.#provisionals().send(message) };
    }
    this.#transaction.respond(message);
    return { message, acknowledged: Promise.resolve(null) };
  }

  /**
   * Answers with 200, retransmitted until its ACK. Without ACK the dialog ends with BYE.
   *
   * @throws {SipError} 487 when the call is no longer ringing.
   * @throws {TypeError} for invalid parts, such as a line break in a header.
   */
  accept(parts: ResponseParts = {}): Acceptance {
    this.#demandRinging();
    const { dialog } = this;
    const message = this.#newResponse(200, parts);
    this.#state = 'accepted';
    this.#cancelRinging();
    dialog.state = 'confirmed';
    dialog.pendingOffer = 'none';
    if (message.body.length > 0) dialog.localSession = message.body;
    dialog.agreeOnTimer(this.request, message);
    const ack = Promise.withResolvers<SipMessage | null>();
    const send = () => {
      this.#transaction.respond(message);
      dialog.awaitAck(this.#ids.sequence, this.#transaction, ack);
    };
    if (dialog.provisionals === undefined) send();
    else {
      // The 2xx waits for the pending PRACK (RFC 3262, 3); the dialog may end before it.
      dialog.provisionals.whenConfirmed(send);
      dialog.once('ended', () => ack.resolve(null));
    }
    return { message, dialog, acknowledged: ack.promise };
  }

  /**
   * Refuses (300 to 699).
   *
   * @returns the response as sent; null when the call is no longer ringing.
   * @throws {RangeError} for another status.
   * @throws {TypeError} when a part is not allowed in a message.
   */
  reject(status: number, parts: ResponseParts = {}): SipMessage | null {
    if (this.#state !== 'ringing') return null;
    if (status < 300 || status > 699)
      throw new RangeError(`Cannot refuse with ${status}: not final`);
    const message = this.#newResponse(status, parts);
    this.#state = 'rejected';
    this.#finish(message);
    return message;
  }

  /** Called by the user agent once the application has the call. */
  limitRinging(): void {
    if (this.#state !== 'ringing') return;
    this.#cancelRinging = this.#context.clock.after(RING_MS_MAX, () => this.reject(480));
  }

  #cancelled(message: SipMessage | null): void {
    if (this.#state !== 'ringing') return;
    this.#state = 'cancelled';
    this.#finish(this.#newResponse(487, {}));
    try {
      this.emit('cancelled', message);
    } catch (error) {
      // Closed connections emit this too; an exception of a listener would end the process there.
      this.#context.logger.error({ error }, 'End of SIP call could not be handled');
    }
  }

  #finish(message: SipMessage): void {
    this.#cancelRinging();
    this.#transaction.respond(message);
    this.#dialog?.end({ cause: 'unanswered', message });
  }

  #provisionals(): ReliableProvisionals {
    const { dialog } = this;
    dialog.provisionals ??= new ReliableProvisionals({
      clock: this.#context.clock,
      timers: this.#context.timers,
      firstSequence: this.#context.tokens.sequence(),
      cseq: this.request.get('cseq') ?? '',
      send: (response) => this.#transaction.respond(response),
      onTimeout: () => this.#unconfirmed(),
    });
    return dialog.provisionals;
  }

  /** Ends a call without PRACK: the caller does not receive our responses. RFC 3262, 3. */
  #unconfirmed(): void {
    if (this.#state === 'ringing') this.reject(504);
    else if (this.#transaction.lastStatus < 200) {
      this.#finish(this.#newResponse(504, {}));
    }
  }

  #newResponse(status: number, parts: ResponseParts): SipMessage {
    return newResponse({
      request: this.request,
      status,
      tag: this.localTag,
      flow: this.flow,
      product: this.#context.product,
      parts,
    });
  }

  #demandRinging(): void {
    if (this.#state === 'ringing') return;
    throw new SipError(487, `Cannot answer call "${this.request.callId}": it is ${this.#state}`);
  }
}

/** Accepted call: the 2xx, its dialog, and later its ACK. */
export interface Acceptance {
  /** The 2xx as sent. */
  readonly message: SipMessage;
  readonly dialog: Dialog;
  /** The ACK; null when the dialog ended without one: BYE first, or 64*T1 of silence. */
  readonly acknowledged: Promise<SipMessage | null>;
}
