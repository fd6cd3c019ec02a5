/** Incoming call over drachtio, until it is answered or refused. */
import { randomBytes } from 'node:crypto';
import type { CallPrice } from '../../../domain/call/call-cost.ts';
import { type Clock, TRANSACTION_MS, within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { calledNumberOf, callerOf, sipMetadataOf } from '../../call-headers.ts';
import { type AnswerOptions, CarrierError, type IncomingCall } from '../../carrier.ts';
import { type MediaEndpoint, type MediaGateway, statusOf } from '../../media-gateway.ts';
import type { Phone } from '../../phones/phones.ts';
import type { AdvertisedAddresses } from '../../trunks/our-addresses.ts';
import { hostPortOfUri, sourcesOf } from '../../trunks/trunk-table.ts';
import { domainOf, type Trunk } from '../../trunks/trunks.ts';
import {
  type JournalEntry,
  type OpenDialogJournal,
  withTag,
} from '../carrier/open-dialog-journal.ts';
import type { OurContacts } from '../carrier/our-contacts.ts';
import { refuse, refuseSession } from '../carrier/source-acl.ts';
import {
  isTransactionGone,
  reasonOf,
  type SrfAnswer,
  type SrfClient,
  type SrfDialog,
  type SrfRequest,
  sdpOf,
} from '../carrier/srf.ts';
import type { AcceptedTransfers } from '../transfer/far-end-moves.ts';
import { extensionsOf } from '../transfer/replaces.ts';
import type { CallSecond, ThirdPartyOptions } from '../transfer/transfer.ts';
import { SrfLeg } from './srf-leg.ts';

/** 64 bits; RFC 3261, 19.3 asks for 32. */
const TAG_BYTES = 8;

const GAVE_UP = 'the caller has given up';

interface IncomingCallOptions {
  readonly srf: SrfClient;
  /** Name of the SIP server in reports. */
  readonly server: string;
  readonly request: SrfRequest;
  readonly answer: SrfAnswer;
  /** Undefined for a call of this machine itself while there are no trunks. */
  readonly trunk: Trunk | undefined;
  /** The telephone of ours that calls. */
  readonly phone?: Phone | undefined;
  readonly media: MediaGateway;
  readonly addresses?: AdvertisedAddresses | undefined;
  /** The server's own Contact when not given. */
  readonly contacts?: OurContacts | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal?: OpenDialogJournal | undefined;
  readonly callSecond?: CallSecond | undefined;
  readonly holdMusic?: ThirdPartyOptions['holdMusic'];
  /** Set where the trunk lets far ends move calls. */
  readonly acceptedTransfers?: AcceptedTransfers | undefined;
  /** Endpoint of the call whose far end this one replaces. */
  readonly inPlaceOf?: MediaEndpoint | undefined;
  /** Transfer method without a trunk's setting. */
  readonly transferBy?: Trunk['transfer'] | undefined;
  /** Called once, at the end of the call. */
  readonly onOver: () => void;
}

/** An incoming call: rings, sends early media, is answered or refused. */
export class SrfIncomingCall implements IncomingCall {
  readonly carrierCallSid: string;
  readonly from: string;
  readonly to: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly phone: Phone | undefined;
  readonly #options: IncomingCallOptions;
  #state: 'ringing' | 'answering' | 'answered' | 'cancelled' | 'rejected' = 'ringing';
  /** Our To tag, chosen here so that it is saved before the server sends it. */
  readonly #localTag = randomBytes(TAG_BYTES).toString('hex');
  #leg: SrfLeg | undefined;
  /** In the journal from the first response on. */
  #entry: JournalEntry | undefined;
  #onCancelled: () => void = () => {};

  constructor(options: IncomingCallOptions) {
    const { request, trunk, phone } = options;
    this.#options = options;
    this.phone = phone;
    this.carrierCallSid = request.get('call-id') ?? '';
    this.from = phone === undefined ? callerOf(request, trunk) : (phone.extension ?? phone.name);
    this.to = calledNumberOf(request, trunk);
    const sip = sipMetadataOf(request.raw, trunk !== undefined);
    this.metadata = sip === undefined ? {} : { sip };
    request.on('cancel', () => this.cancelled());
  }

  onCancelled(listener: () => void): void {
    this.#onCancelled = listener;
    if (this.#state === 'cancelled') listener();
  }

  /** From the moment of its 200. */
  get leg(): SrfLeg | undefined {
    return this.#leg;
  }

  /** The caller has given up. */
  cancelled(): void {
    if (this.#state !== 'ringing' && this.#state !== 'answering') return;
    const wasRinging = this.#state === 'ringing';
    this.#state = 'cancelled';
    if (wasRinging) this.#over();
    this.#onCancelled();
  }

  /** Ends an unanswered call because the SIP server is unreachable; the journal refuses it when the server is back. */
  lost(): void {
    this.#entry?.orphan();
    this.#entry = undefined;
    this.cancelled();
  }

  reject(sipStatus: number, options: { readonly retryAfterSeconds?: number } = {}): void {
    if (this.#state === 'ringing') this.#refuse(sipStatus, options);
    // 200 is sent and its ACK is missing: only BYE is left.
    else if (this.#state === 'answering') void this.#leg?.hangUp();
  }

  /** Ends the call in any state, on shutdown. */
  async end(): Promise<void> {
    if (this.#state === 'ringing') this.#refuse(503);
    await this.#leg?.hangUp();
  }

  ring(): void {
    if (this.#state !== 'ringing') return;
    this.#saveInvite();
    this.#options.answer.send(180, { headers: this.#own });
  }

  async answer({ headers = {} }: AnswerOptions = {}): Promise<SrfLeg> {
    if (this.#state !== 'ringing') throw this.#error(GAVE_UP, 487);
    this.#state = 'answering';
    this.#saveInvite();
    const endpoint = await this.#openMedia();
    try {
      if (this.#hasEnded) throw this.#error(GAVE_UP, 487);
      const leg = await this.#accept(endpoint, headers);
      this.#state = 'answered';
      return leg;
    } catch (error) {
      if (this.#options.inPlaceOf === undefined) await endpoint.close();
      this.#over();
      if (error instanceof CarrierError) throw error;
      throw this.#error(reasonOf(error), statusOf(error), error);
    }
  }

  /** A CANCEL or a lost connection may come during any await. */
  get #hasEnded(): boolean {
    return this.#state === 'cancelled';
  }

  async #openMedia(): Promise<MediaEndpoint> {
    const { media, request, trunk, addresses, inPlaceOf } = this.#options;
    const remoteSdp = sdpOf(request);
    const signallingAddress = request.source_address;
    try {
      if (inPlaceOf !== undefined) return await describeTo(remoteSdp, inPlaceOf);
      return await media.open({
        signallingAddress,
        advertisedAddress: addresses?.advertisedTo(signallingAddress, trunk),
        isHeld: true,
        ...(remoteSdp !== '' && { remoteSdp }),
        ...(trunk && { codecs: trunk.codecs, srtp: trunk.srtp, carrier: sourcesOf(trunk) }),
      });
    } catch (error) {
      const sipStatus = statusOf(error);
      if (this.#hasEnded) this.#over();
      else if (sipStatus < 500) this.#refuseSession(sipStatus, reasonOf(error));
      else this.#refuse(sipStatus);
      throw this.#error(reasonOf(error), sipStatus, error);
    }
  }

  async #accept(endpoint: MediaEndpoint, headers: Record<string, string>): Promise<SrfLeg> {
    const { request, trunk, journal } = this.#options;
    const { channels = [] } = endpoint;
    const price = this.#price;
    this.#entry = journal?.expect(request, { localTag: this.#localTag, channels, price });
    await this.#entry?.saved;
    if (this.#hasEnded) throw this.#error(GAVE_UP, 487);
    const parts = { localSdp: endpoint.localSdp, headers: { ...headers, ...this.#own } };
    const leg = await this.#createDialog(parts, (dialog) => {
      const expected = this.#entry;
      this.#entry = undefined;
      this.#leg = new SrfLeg({
        ...this.#options,
        dialog,
        endpoint,
        expected,
        referDomain: trunk === undefined ? hostPortOfUri(dialog.remote.uri) : domainOf(trunk),
        transferBy: trunk?.transfer ?? this.#options.transferBy,
        price,
        isAnswerAwaited: sdpOf(request) === '',
        isInPlace: this.#options.inPlaceOf !== undefined,
        isConfirmationAwaited: true,
      });
      return this.#leg;
    });
    try {
      await leg.negotiated;
      await leg.confirmed;
    } catch (error) {
      await leg.hangUp();
      throw error;
    }
    return leg;
  }

  /** Undefined where it is unknown; a telephone of ours comes without a carrier. */
  get #price(): CallPrice | undefined {
    const { trunk, phone } = this.#options;
    return phone === undefined ? (trunk?.price?.inbound ?? undefined) : undefined;
  }

  /** Our Contact, and with a journal our tag in To. */
  get #own(): Record<string, string> {
    const { request, trunk, contacts, journal } = this.#options;
    const { source_address: farEnd, protocol: transport } = request;
    return {
      ...contacts?.headers(farEnd, { trunk, transport }),
      ...extensionsOf(trunk),
      ...(journal !== undefined && { To: withTag(request.get('to') ?? '', this.#localTag) }),
    };
  }

  #saveInvite(): void {
    const { request, journal, server } = this.#options;
    this.#entry ??= journal?.ring(request, { localTag: this.#localTag, channels: [], server });
  }

  /** A leg removes its own journal entry. */
  #over(): void {
    this.#entry?.forget();
    this.#options.onOver();
  }

  /**
   * Listeners have to be on the dialog within the callback: the next request, read from the same packet of the
   * connection, is handed out before any promise is.
   */
  async #createDialog(
    parts: Parameters<SrfClient['createUAS']>[2],
    adopt: (dialog: SrfDialog) => SrfLeg,
  ): Promise<SrfLeg> {
    const { srf, request, answer, clock } = this.#options;
    const created = new Promise<SrfLeg>((resolve, reject) => {
      srf.createUAS(request, answer, parts, (error, dialog) => {
        const isGivenUp = this.#hasEnded || isTransactionGone(error);
        if (dialog !== undefined) resolve(adopt(dialog));
        else if (isGivenUp) reject(this.#error(GAVE_UP, 487, error));
        else reject(this.#error(reasonOf(error), 500, error));
      });
    });
    try {
      return await within(clock, TRANSACTION_MS, created);
    } catch (error) {
      // A late dialog has no call any more.
      created.then((leg) => leg.hangUp()).catch(() => undefined);
      throw error;
    }
  }

  #refuse(sipStatus: number, options: { readonly retryAfterSeconds?: number } = {}): void {
    this.#state = 'rejected';
    refuse(this.#options.answer, sipStatus, options.retryAfterSeconds);
    this.#over();
  }

  #refuseSession(sipStatus: number, why: string): void {
    this.#state = 'rejected';
    refuseSession(this.#options.answer, sipStatus, why);
    this.#over();
  }

  #error(why: string, sipStatus: number, cause?: unknown): CarrierError {
    return new CarrierError(
      `Cannot answer call "${this.carrierCallSid}": ${why}`,
      sipStatus,
      cause === undefined ? {} : { cause },
    );
  }
}

/** Offers to a far end, or answers its offer, on an endpoint that is in use. @throws {MediaError} as `negotiate`. */
async function describeTo(remoteSdp: string, endpoint: MediaEndpoint): Promise<MediaEndpoint> {
  if (remoteSdp === '') endpoint.offer();
  else await endpoint.negotiate(remoteSdp);
  return endpoint;
}
