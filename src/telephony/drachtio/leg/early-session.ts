/** What a call of ours agrees on until it is answered: early media, offers that come by UPDATE, and the answer itself. */
import type { Logger } from '../../../lib/logger.ts';
import { type MediaEndpoint, MediaError } from '../../media-gateway.ts';
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
import { refuseForNow, refuseGlare, sendOk, sendSdp } from './offer-answer.ts';

/** More far ends than that, rung at once by a proxy, are not heard before one of them answers. */
const FAR_ENDS_MAX = 16;

/** The newest description of one far end. */
interface Description {
  readonly sdp: string;
  /** `hint`: a provisional response that may be lost; `answer`: a reliable one; `offer`: an UPDATE that we have answered. */
  readonly kind: 'hint' | 'answer' | 'offer';
}

/** The exchange of descriptions around one INVITE with an offer. @see RFC 3261 section 13.2.1, RFC 3262 section 5, RFC 3311 */
export class EarlySession {
  readonly #endpoint: MediaEndpoint;
  readonly #log: Logger;
  /** By the far end's tag: a proxy may ring several. */
  readonly #descriptions = new Map<string, Description>();
  #inForce = '';
  /** One change of the sound after the other. */
  #changes: Promise<void> = Promise.resolve();
  #isAnswering = false;
  #watched: SrfSentInvite | undefined;

  constructor({ endpoint, log }: { readonly endpoint: MediaEndpoint; readonly log: Logger }) {
    this.#endpoint = endpoint;
    this.#log = log;
  }

  /**
   * Takes a provisional response to `invite`, and from then on the UPDATEs of whoever sent it.
   *
   * Early media is a courtesy: what cannot be understood here may be put right by the answer.
   */
  heard(response: SrfResponse, invite: SrfSentInvite | undefined): void {
    if (invite !== undefined) this.#watch(invite);
    const sdp = sdpOf(response);
    const tag = tagOf(response, 'to');
    const known = this.#descriptions.get(tag);
    if (sdp === '' || known?.kind === 'offer') return;
    if (known === undefined && this.#descriptions.size >= FAR_ENDS_MAX) return;
    const isAnswer = known?.kind === 'answer' || isReliable(response);
    this.#descriptions.set(tag, { sdp, kind: isAnswer ? 'answer' : 'hint' });
    void this.#change(async () => {
      try {
        await this.#apply(sdp);
      } catch (error) {
        this.#log.debug({ why: reasonOf(error) }, 'could not use early media');
      }
    });
  }

  /**
   * Takes the answer to the call.
   *
   * The 2xx need not describe the session once a reliable response has, and says nothing new after an UPDATE.
   *
   * @throws {MediaError} when it is none: 400 or 488, also where the far end has never said where its sound is.
   */
  async settle({ sip, res }: SrfDialog): Promise<void> {
    await this.#changes;
    const early = this.#descriptions.get(sip.remoteTag);
    const answer = early?.kind === 'offer' ? '' : sdpOf(res);
    if (answer !== '') await this.#apply(answer);
    else if (early === undefined) {
      throw new MediaError('Cannot set up sound: the far end has not described its own', 488);
    } else if (early.sdp !== this.#inForce) await this.#apply(early.sdp);
  }

  /** drachtio-srf answers an early UPDATE with the offer of our INVITE, whatever it holds; so we do. */
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
    // Without a description it only says that the session is still alive. RFC 4028, 7.4.
    const contact = this.#watched?.get('contact');
    if (sdp === '') return sendOk(answer, contact);
    // Our own offer still waits for its answer.
    if (kind === 'hint') return refuseGlare(answer);
    if (this.#isAnswering) return refuseForNow(answer);
    this.#isAnswering = true;
    await this.#change(async () => {
      try {
        sendSdp(answer, await this.#apply(sdp), contact);
        this.#descriptions.set(tag, { sdp, kind: 'offer' });
      } catch (error) {
        // What was agreed on before still holds. RFC 3311, 5.2.
        this.#log.info({ why: reasonOf(error) }, 'refused a change of the session');
        answer.send(error instanceof MediaError ? error.sipStatus : 500);
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

function isReliable(response: SrfResponse): boolean {
  return /\b100rel\b/i.test(response.get('require') ?? '');
}

function tagOf(message: SrfMessage, party: 'from' | 'to'): string {
  return /;\s*tag\s*=\s*([^;,\s]+)/i.exec(message.get(party) ?? '')?.[1] ?? '';
}
