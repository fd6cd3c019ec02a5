/** SDP offer/answer of a call: early media and UPDATE before the answer; hold, resume and offers in the ACK after it. */

import type { Logger } from '../../../lib/logger.ts';
import { type MediaEndpoint, MediaError, statusOf } from '../../media-gateway.ts';
import { refuseSession } from '../carrier/source-acl.ts';
import {
  reasonOf,
  type SrfAnswer,
  type SrfDialog,
  type SrfMessage,
  type SrfRequest,
  type SrfResponse,
  type SrfSentInvite,
  sdpOf,
} from '../carrier/srf.ts';

interface NegotiationOptions {
  readonly dialog: SrfDialog;
  readonly endpoint: MediaEndpoint;
  readonly log: Logger;
  /** True when our 200 held an offer: the answer is in the ACK. */
  readonly isAnswerAwaited: boolean;
  /** Whether the endpoint is another far end's, or about to be: no description is taken then. */
  readonly isMoving?: () => boolean;
}

/** One call's exchange of session descriptions. @see RFC 3264, RFC 3261 section 14.2, RFC 3311 */
export class Negotiation {
  readonly #endpoint: MediaEndpoint;
  readonly #log: Logger;
  readonly #contact: string | undefined;
  readonly #settled = Promise.withResolvers<void>();
  #isSettled: boolean;
  readonly #isMoving: () => boolean;
  #isBusy = false;
  #isAnswerAwaited: boolean;

  constructor({ dialog, endpoint, log, isAnswerAwaited, isMoving }: NegotiationOptions) {
    this.#endpoint = endpoint;
    this.#isMoving = isMoving ?? (() => false);
    this.#log = log;
    this.#contact = dialog.local.contact;
    this.#isAnswerAwaited = isAnswerAwaited;
    this.#isSettled = !isAnswerAwaited;
    this.#settled.promise.catch(() => undefined);
    if (this.#isSettled) this.#settled.resolve();

    dialog.on('modify', (request, answer) => void this.#onReinvite(sdpOf(request), answer));
    dialog.on('update', (request, answer) => void this.#onUpdate(sdpOf(request), answer));
    dialog.on('ack', (request) => void this.#onAck(request));
  }

  /**
   * Resolves when media are agreed.
   *
   * @throws {MediaError} when the ACK held no usable answer.
   */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Whether an offer waits for its answer, theirs or ours. */
  get isPending(): boolean {
    return this.#isBusy || this.#isAnswerAwaited;
  }

  /** Gives up the wait for an answer in an ACK: the call is over. */
  stop(): void {
    // Nearly every call returns here: an error is created only while an ACK is awaited.
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settled.reject(new MediaError('Cannot set up sound: the call ended before its ACK', 487));
  }

  async #onReinvite(sdp: string, answer: SrfAnswer): Promise<void> {
    if (sdp !== '') return this.#answerOffer(sdp, answer);
    if (this.#isMoving()) return refuseGlare(answer);
    if (this.#isBusy) return refuseForNow(answer);
    this.#isAnswerAwaited = true;
    sendSdp(answer, this.#endpoint.offer(), this.#contact);
  }

  async #onUpdate(sdp: string, answer: SrfAnswer): Promise<void> {
    // Without SDP it is only a session refresh. RFC 4028, 7.4.
    if (sdp === '') sendOk(answer, this.#contact);
    else await this.#answerOffer(sdp, answer);
  }

  async #answerOffer(sdp: string, answer: SrfAnswer): Promise<void> {
    if (this.#isAnswerAwaited || this.#isMoving()) return refuseGlare(answer);
    if (this.#isBusy) return refuseForNow(answer);
    this.#isBusy = true;
    try {
      sendSdp(answer, await this.#endpoint.negotiate(sdp), this.#contact);
    } catch (error) {
      // The call goes on as it was. RFC 3261, 14.2.
      this.#log.info({ why: reasonOf(error) }, 'refused a change of the session');
      refuseSession(answer, statusOf(error), reasonOf(error));
    } finally {
      this.#isBusy = false;
    }
  }

  async #onAck(request: SrfRequest): Promise<void> {
    if (!this.#isAnswerAwaited) return;
    this.#isAnswerAwaited = false;
    try {
      await this.#endpoint.negotiate(sdpOf(request));
      this.#isSettled = true;
      this.#settled.resolve();
    } catch (error) {
      this.#log.info({ why: reasonOf(error) }, 'the ACK had no usable session description');
      this.#settled.reject(error);
    }
  }
}

/** Limit of far ends with early media, when a proxy forks the call. */
const FAR_ENDS_MAX = 16;

/** Newest SDP of one far end. */
interface Description {
  readonly sdp: string;
  /** `hint`: a provisional response that may be lost; `answer`: a reliable one; `offer`: an UPDATE that we have answered. */
  readonly kind: 'hint' | 'answer' | 'offer';
}

/** The exchange of descriptions around one INVITE with an offer. @see RFC 3261 section 13.2.1, RFC 3262 section 5, RFC 3311 */
export class EarlySession {
  readonly #endpoint: MediaEndpoint;
  readonly #log: Logger;
  /** Descriptions by the far end's tag: a proxy may fork the call. */
  readonly #descriptions = new Map<string, Description>();
  #inForce = '';
  /** One change of the sound after the other. */
  #changes: Promise<void> = Promise.resolve();
  #isAnswering = false;
  #watched: SrfSentInvite | undefined;
  /** Whether the endpoint is another far end's until the answer: early media are not heard. */
  #isDeferred: boolean;

  constructor(options: {
    readonly endpoint: MediaEndpoint;
    readonly log: Logger;
    readonly isDeferred?: boolean;
  }) {
    this.#endpoint = options.endpoint;
    this.#log = options.log;
    this.#isDeferred = options.isDeferred ?? false;
  }

  /**
   * Applies early media of a provisional response to `invite`, and handles UPDATEs of its sender from then on.
   *
   * Errors are ignored: the answer may correct them.
   */
  provisional(response: SrfResponse, invite: SrfSentInvite | undefined): void {
    if (invite !== undefined) this.#watch(invite);
    const sdp = sdpOf(response);
    const tag = tagOf(response, 'to');
    const known = this.#descriptions.get(tag);
    if (sdp === '' || known?.kind === 'offer') return;
    if (known === undefined && this.#descriptions.size >= FAR_ENDS_MAX) return;
    const isAnswer = known?.kind === 'answer' || /\b100rel\b/i.test(response.get('require') ?? '');
    this.#descriptions.set(tag, { sdp, kind: isAnswer ? 'answer' : 'hint' });
    if (this.#isDeferred) return;
    void this.#change(async () => {
      try {
        await this.#apply(sdp);
      } catch (error) {
        this.#log.debug({ why: reasonOf(error) }, 'could not use early media');
      }
    });
  }

  /**
   * Applies the answer to the call.
   *
   * The 2xx may lack SDP after a reliable response, and its SDP is old after an UPDATE.
   *
   * @throws {MediaError} 400 or 488 for an unusable answer, or none at all.
   */
  async settle({ sip, res }: SrfDialog): Promise<void> {
    this.#isDeferred = false;
    await this.#changes;
    const early = this.#descriptions.get(sip.remoteTag);
    const answer = early?.kind === 'offer' ? '' : sdpOf(res);
    if (answer !== '') await this.#apply(answer);
    else if (early === undefined) {
      throw new MediaError('Cannot set up sound: the far end has not described its own', 488);
    } else if (early.sdp !== this.#inForce) await this.#apply(early.sdp);
  }

  /** Replaces drachtio-srf's listener, which answers an early UPDATE with the offer of our INVITE. */
  #watch(invite: SrfSentInvite): void {
    if (this.#watched === invite) return;
    this.#watched = invite;
    invite.removeAllListeners('update');
    invite.on('update', (request, answer) => void this.#onUpdate(request, answer));
  }

  async #onUpdate(request: SrfRequest, answer: SrfAnswer): Promise<void> {
    const sdp = sdpOf(request);
    const tag = tagOf(request, 'from');
    const kind = this.#descriptions.get(tag)?.kind ?? 'hint';
    // Without SDP it is only a session refresh. RFC 4028, 7.4.
    const contact = this.#watched?.get('contact');
    if (sdp === '') return sendOk(answer, contact);
    // Our own offer still waits for its answer.
    if (kind === 'hint') return refuseGlare(answer);
    if (this.#isAnswering || this.#isDeferred) return refuseForNow(answer);
    this.#isAnswering = true;
    await this.#change(async () => {
      try {
        sendSdp(answer, await this.#apply(sdp), contact);
        this.#descriptions.set(tag, { sdp, kind: 'offer' });
      } catch (error) {
        // The previous agreement stays in force. RFC 3311, 5.2.
        this.#log.info({ why: reasonOf(error) }, 'refused a change of the session');
        refuseSession(answer, statusOf(error), reasonOf(error));
      }
    });
    this.#isAnswering = false;
  }

  /** @param change never rejects. */
  #change(change: () => Promise<void>): Promise<void> {
    this.#changes = this.#changes.then(change);
    return this.#changes;
  }

  async #apply(sdp: string): Promise<string> {
    const ours = await this.#endpoint.negotiate(sdp);
    this.#inForce = sdp;
    return ours;
  }
}

function tagOf(message: SrfMessage, party: 'from' | 'to'): string {
  return /;\s*tag\s*=\s*([^;,\s]+)/i.exec(message.get(party) ?? '')?.[1] ?? '';
}

/** @param contact our Contact as the call began with it: drachtio-server would write its own again. */
export function sendSdp(answer: SrfAnswer, body: string, contact: string | undefined): void {
  const headers = { 'Content-Type': 'application/sdp', ...withContact(contact) };
  answer.send(200, { body, headers });
}

/** Agrees to a change without a description. @param contact as for `sendSdp` */
export function sendOk(answer: SrfAnswer, contact: string | undefined): void {
  answer.send(200, { headers: withContact(contact) });
}

function withContact(contact: string | undefined): Record<string, string> {
  return contact === undefined ? {} : { Contact: contact };
}

/** Refuses an offer that overtakes an unanswered one; the sender retries. RFC 3261, 14.2. */
export function refuseForNow(answer: SrfAnswer): void {
  answer.send(500, { headers: { 'Retry-After': '1' } });
}

/** Refuses an offer that crosses ours. RFC 3311, 5.2. */
export function refuseGlare(answer: SrfAnswer): void {
  answer.send(491);
}
