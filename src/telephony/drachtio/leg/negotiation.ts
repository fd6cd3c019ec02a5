/** Offers and answers of an answered call: hold and resume, new addresses, offers that come in the ACK. */
import type { Logger } from '../../../lib/logger.ts';
import { type MediaEndpoint, MediaError } from '../../media-gateway.ts';
import {
  reasonOf,
  type SrfAnswer,
  type SrfDialog,
  type SrfRequest,
  sdpOf,
} from '../carrier/srf.ts';
import { refuseForNow, refuseGlare, sendOk, sendSdp } from './offer-answer.ts';

export interface NegotiationOptions {
  readonly dialog: SrfDialog;
  readonly endpoint: MediaEndpoint;
  readonly log: Logger;
  /** True when our 200 held an offer: the far end's answer is in its ACK. */
  readonly isAnswerAwaited: boolean;
}

/** One call's exchange of session descriptions. @see RFC 3264, RFC 3261 section 14.2, RFC 3311 */
export class Negotiation {
  readonly #endpoint: MediaEndpoint;
  readonly #log: Logger;
  readonly #contact: string | undefined;
  readonly #settled = Promise.withResolvers<void>();
  #isSettled: boolean;
  #isBusy = false;
  #isAnswerAwaited: boolean;

  constructor({ dialog, endpoint, log, isAnswerAwaited }: NegotiationOptions) {
    this.#endpoint = endpoint;
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
   * Resolves when sound can flow.
   *
   * @throws {MediaError} when the ACK of our offer had no usable answer.
   */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Gives up the wait for an answer in an ACK: the call is over. */
  stop(): void {
    // Nearly every call ends so, and an error costs its stack even where nobody is told of it.
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settled.reject(new MediaError('Cannot set up sound: the call ended before its ACK', 487));
  }

  async #onReinvite(sdp: string, answer: SrfAnswer): Promise<void> {
    if (sdp !== '') return this.#answerOffer(sdp, answer);
    if (this.#isBusy) return refuseForNow(answer);
    this.#isAnswerAwaited = true;
    sendSdp(answer, this.#endpoint.offer(), this.#contact);
  }

  async #onUpdate(sdp: string, answer: SrfAnswer): Promise<void> {
    // Without a description it only says that the session is still alive. RFC 4028, 7.4.
    if (sdp === '') sendOk(answer, this.#contact);
    else await this.#answerOffer(sdp, answer);
  }

  async #answerOffer(sdp: string, answer: SrfAnswer): Promise<void> {
    if (this.#isAnswerAwaited) return refuseGlare(answer);
    if (this.#isBusy) return refuseForNow(answer);
    this.#isBusy = true;
    try {
      sendSdp(answer, await this.#endpoint.negotiate(sdp), this.#contact);
    } catch (error) {
      // The call goes on as it was. RFC 3261, 14.2.
      this.#log.info({ why: reasonOf(error) }, 'refused a change of the session');
      answer.send(error instanceof MediaError ? error.sipStatus : 500);
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
