/** Outgoing call through a trunk over drachtio, until it is answered or fails. */
import { isIP } from 'node:net';
import { type Clock, TRANSACTION_MS } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { MediaSession } from '../../../media/audio-stream.ts';
import { callerHeadersOf } from '../../call-headers.ts';
import { CarrierError, type OutgoingCall } from '../../carrier.ts';
import { type MediaEndpoint, type MediaGateway, statusOf } from '../../media-gateway.ts';
import type { AdvertisedAddresses } from '../../trunks/our-addresses.ts';
import { sourcesOf } from '../../trunks/trunk-table.ts';
import { domainOf, proxyUriOf, type Trunk, targetUriOf } from '../../trunks/trunks.ts';
import {
  headOf,
  type JournalEntry,
  type OpenDialogJournal,
} from '../carrier/open-dialog-journal.ts';
import type { OurContacts } from '../carrier/our-contacts.ts';
import {
  reasonOf,
  responseOf,
  type SrfClient,
  type SrfDialog,
  type SrfResponse,
  type SrfSentInvite,
} from '../carrier/srf.ts';
import type { AcceptedTransfers } from '../transfer/far-end-moves.ts';
import { extensionsOf } from '../transfer/replaces.ts';
import type { CallSecond, ThirdPartyOptions } from '../transfer/transfer.ts';
import { type AnswerChallenge, secondTry } from './in-dialog-request.ts';
import { EarlySession } from './negotiation.ts';
import { SrfLeg } from './srf-leg.ts';

/** Constructor parameters of `SrfOutgoingCall`. */
export interface OutgoingCallOptions {
  readonly srf: SrfClient;
  /** Name of the SIP server in reports. */
  readonly server: string;
  /** Whether the engine itself reports each INVITE to `journal`. */
  readonly isReportedByEngine: boolean;
  readonly trunk: Trunk;
  readonly from: string;
  readonly to: string;
  readonly callId: string;
  readonly ringingTimeoutMs: number;
  /** Headers of the INVITE besides its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Wait before the INVITE; default: none. */
  readonly delayMs?: number | undefined;
  /** Gives up when the INVITE has no response at all after this time; default: the SIP server's own limit. */
  readonly responseMsMax?: number | undefined;
  /** Asked when that time is over, and again after as long; default: yes. */
  readonly mayGiveUp?: (() => boolean) | undefined;
  /** RTP session that ours may be joined with. */
  readonly near?: MediaSession | undefined;
  /** Endpoint of the call whose far end this one takes the place of. */
  readonly inPlaceOf?: MediaEndpoint | undefined;
  /** Set where the trunk lets far ends move calls. */
  readonly acceptedTransfers?: AcceptedTransfers | undefined;
  /** Whether `near` hears early media. */
  readonly isEarlyMediaHeard?: boolean | undefined;
  readonly media: MediaGateway;
  readonly addresses?: AdvertisedAddresses | undefined;
  /** The server's own Contact when not given. */
  readonly contacts?: OurContacts | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined if the server answers challenges. */
  readonly answerChallenge?: AnswerChallenge | undefined;
  readonly journal?: OpenDialogJournal | undefined;
  readonly callSecond?: CallSecond | undefined;
  readonly holdMusic?: ThirdPartyOptions['holdMusic'];
  /** Called for each response of the trunk's proxy. */
  readonly onResponse?: () => void;
  /** Called once, at the end of the call. */
  readonly onOver: () => void;
}

/** Details of a failed call. */
interface FailureFacts {
  readonly cause?: unknown;
  /** Final status of the far end. */
  readonly refusedWith?: number;
  readonly isUnreached?: boolean;
}

/** An outgoing call: INVITE, early media, answer or failure, CANCEL. */
export class SrfOutgoingCall implements OutgoingCall {
  readonly carrierCallSid: string;
  readonly answered: Promise<SrfLeg>;
  readonly #options: OutgoingCallOptions;
  readonly #answered = Promise.withResolvers<SrfLeg>();
  #state: 'calling' | 'cancelled' | 'over' = 'calling';
  #sent: SrfSentInvite | undefined;
  /** In the journal from the INVITE to the answer. */
  #entry: JournalEntry | undefined;
  #leg: SrfLeg | undefined;
  #endpoint: MediaEndpoint | undefined;
  /** Destination IP address; empty if the proxy's name does not resolve. */
  #farEnd = '';
  #hasRung = false;
  #hasResponse = false;
  #isUnanswered = false;
  #onRinging: () => void = () => {};
  #stopTimer: () => void;
  #stopResponseTimer: () => void = () => {};

  constructor(options: OutgoingCallOptions) {
    this.#options = options;
    this.carrierCallSid = options.callId;
    this.answered = this.#answered.promise;
    this.answered.catch(() => undefined);
    this.#stopTimer = options.clock.after(options.ringingTimeoutMs, () => this.cancel());
    void this.#begin();
  }

  /** Whether the call was given up because no response arrived. */
  get isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  get #isWanted(): boolean {
    return this.#state === 'calling';
  }

  /** From the moment of its answer. */
  get leg(): SrfLeg | undefined {
    return this.#leg;
  }

  onRinging(listener: () => void): void {
    this.#onRinging = listener;
    if (this.#hasRung) listener();
  }

  cancel(): void {
    if (this.#leg !== undefined) return void this.#leg.hangUp();
    if (this.#state !== 'calling') return;
    this.#state = 'cancelled';
    this.#stopTimer();
    // Time limit for the 487 that answers CANCEL.
    this.#stopTimer = this.#options.clock.after(TRANSACTION_MS, () => this.fail('cancelled', 487));
    this.#sent?.cancel();
  }

  /** Ends the call in any state, on shutdown. */
  async end(): Promise<void> {
    if (this.#state !== 'over') this.#sent?.cancel();
    this.fail('the server stops', 503);
    await this.#leg?.hangUp();
  }

  /** Ends an unanswered call because the SIP server is unreachable; the journal cancels it when the server is back. */
  lost(why: string): void {
    if (this.#state === 'over') return;
    this.#entry?.orphan();
    this.#entry = undefined;
    this.fail(why, 503);
  }

  /** Ends the unanswered call. */
  fail(why: string, sipStatus: number, facts: FailureFacts = {}): void {
    if (this.#state === 'over') return;
    this.#end();
    this.#entry?.forget();
    this.#reject(why, sipStatus, facts);
    this.#closePort();
    this.#options.onOver();
  }

  #closePort(): void {
    if (this.#options.inPlaceOf !== undefined) return;
    this.#endpoint?.close().catch((error: unknown) => {
      this.#options.log.warn({ why: reasonOf(error) }, 'could not close a port');
    });
  }

  async #begin(): Promise<void> {
    const { trunk, near, isEarlyMediaHeard, addresses, delayMs = 0 } = this.#options;
    try {
      if (delayMs > 0) await this.#delay(delayMs);
      if (!this.#isWanted) return this.fail('cancelled', 487);
      const signallingAddress = (await addresses?.proxyAddressOf(trunk)) ?? addressOf(trunk);
      this.#farEnd = signallingAddress;
      this.#endpoint = await this.#openEndpoint(signallingAddress);
      // The call failed meanwhile, before it had a port to close.
      if (this.#state === 'over') return void this.#closePort();
      if (isEarlyMediaHeard) near?.feedFrom(this.#endpoint.session);
      const { journal, callId } = this.#options;
      this.#entry = journal?.begin(callId, this.#endpoint.channels ?? []);
    } catch (error) {
      return this.fail(reasonOf(error), statusOf(error), { cause: error });
    }
    if (!this.#isWanted) return this.fail('cancelled', 487);
    this.#limitResponse();
    this.#invite(this.#endpoint, this.#firstHeaders(), true);
  }

  /** @throws {MediaError} without a free port. */
  async #openEndpoint(signallingAddress: string): Promise<MediaEndpoint> {
    const { media, trunk, near, inPlaceOf, addresses } = this.#options;
    if (inPlaceOf !== undefined) {
      inPlaceOf.offer();
      return inPlaceOf;
    }
    return media.open({
      signallingAddress,
      advertisedAddress: addresses?.advertisedTo(signallingAddress, trunk),
      carrier: sourcesOf(trunk),
      codecs: trunk.codecs,
      srtp: trunk.srtp,
      near,
    });
  }

  /** Never resolves once the call is over. */
  #delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#stopResponseTimer = this.#options.clock.after(delayMs, resolve);
    });
  }

  #limitResponse(): void {
    const { clock, responseMsMax, mayGiveUp } = this.#options;
    if (responseMsMax === undefined) return;
    this.#stopResponseTimer = clock.after(responseMsMax, () => {
      if (this.#state !== 'calling' || this.#hasResponse) return;
      if (mayGiveUp?.() === false) return this.#limitResponse();
      this.#isUnanswered = true;
      this.#sent?.cancel();
      this.fail('no response, and another trunk can take the call', 408);
    });
  }

  #responded(): void {
    this.#hasResponse = true;
    this.#options.onResponse?.();
  }

  #firstHeaders(): Record<string, string> {
    const { trunk, from, callId, contacts, headers } = this.#options;
    const { transport } = trunk.proxy;
    return {
      ...headers,
      ...extensionsOf(trunk),
      ...contacts?.headers(this.#farEnd, { trunk, transport }),
      ...{ 'Call-ID': callId, ...callerHeadersOf(trunk, from) },
    };
  }

  #invite(endpoint: MediaEndpoint, headers: Record<string, string>, isFirst: boolean): void {
    const { srf, trunk, to, log, inPlaceOf } = this.#options;
    const early = new EarlySession({ endpoint, log, isDeferred: inPlaceOf !== undefined });
    const progress = {
      cbRequest: (_: unknown, request?: SrfSentInvite) => this.#onSent(request),
      cbProvisional: (response: SrfResponse) => this.#onProvisional(early, response),
    };
    const parts = {
      localSdp: endpoint.localSdp,
      headers,
      proxy: proxyUriOf(trunk),
    };
    try {
      srf.createUAC(targetUriOf(trunk, to), parts, progress, (error, dialog) => {
        if (dialog !== undefined) this.#onDialog(endpoint, early, dialog);
        else {
          const again = isFirst ? this.#secondTry(error, headers) : undefined;
          if (again === undefined) this.#onRefused(error);
          else this.#invite(endpoint, again, false);
        }
      });
    } catch (error) {
      // Without a connection to the server, drachtio-srf throws.
      this.fail('the SIP server is out of reach', 503, { cause: error });
    }
  }

  #onSent(request: SrfSentInvite | undefined): void {
    if (request === undefined) return;
    this.#sent = request;
    if (this.#state !== 'calling') request.cancel();
    const { journal, callId, server, isReportedByEngine } = this.#options;
    if (isReportedByEngine) return;
    const { stackTxnId: transactionId, source_address: address } = request;
    // drachtio-server needs only the name of the transaction.
    const peer = { protocol: 'UDP', address, port: 0 };
    const head = headOf(request.raw);
    const invite = { direction: 'out', server, transactionId, head, peer } as const;
    journal?.sent(callId, { message: request, invite });
  }

  #onProvisional(early: EarlySession, response: SrfResponse): void {
    this.#responded();
    if (this.#state !== 'calling' || response.status === 100) return;
    early.provisional(response, this.#sent);
    if (this.#hasRung || (response.status !== 180 && response.status !== 183)) return;
    this.#hasRung = true;
    this.#onRinging();
  }

  /** Headers of the retry with the trunk's credentials; undefined if they do not help. */
  #secondTry(error: unknown, headers: Record<string, string>): Record<string, string> | undefined {
    const response = responseOf(error);
    const refused = this.#sent;
    this.#hasResponse = true;
    if (this.#state !== 'calling' || response === undefined || !refused) return undefined;
    const { answerChallenge } = this.#options;
    return secondTry({ refused, response, headers, answerChallenge });
  }

  #onRefused(error: unknown): void {
    const response = responseOf(error);
    if (response === undefined) {
      this.fail(reasonOf(error), 503, { cause: error });
      return;
    }
    const { status } = response;
    // The SIP server itself responds 408 and 503 for an unreachable proxy. RFC 3261, 8.1.3.1.
    const maybeOwn = status === 408 || status === 503;
    if (!maybeOwn) this.#responded();
    // Such a response has the To of the INVITE; a far end adds its tag.
    const isUnreached = maybeOwn && !/;\s*tag\s*=/i.test(response.get('to') ?? '');
    const why = isUnreached ? 'it is out of reach, or silent' : `it answered ${status}`;
    this.fail(why, status, { cause: error, refusedWith: status, isUnreached });
  }

  /** Listeners are added synchronously: a BYE may follow in the same packet as the answer. */
  #onDialog(endpoint: MediaEndpoint, early: EarlySession, dialog: SrfDialog): void {
    const { trunk } = this.#options;
    this.#responded();
    const expected = this.#entry;
    this.#entry = undefined;
    const leg = new SrfLeg({
      ...this.#options,
      dialog,
      endpoint,
      expected,
      referDomain: domainOf(trunk),
      transferBy: trunk.transfer,
      price: trunk.price?.outbound ?? undefined,
      isAnswerAwaited: false,
      isInPlace: this.#options.inPlaceOf !== undefined,
    });
    this.#leg = leg;
    const isWanted = this.#state === 'calling';
    const hasFailed = this.#state === 'over';
    this.#end();
    if (isWanted) void this.#settle(early, dialog, leg);
    else {
      // The answer crossed our CANCEL, or came after we gave up.
      void leg.hangUp();
      if (!hasFailed) this.#reject('cancelled', 487);
    }
  }

  async #settle(early: EarlySession, dialog: SrfDialog, leg: SrfLeg): Promise<void> {
    try {
      await early.settle(dialog);
      this.#answered.resolve(leg);
    } catch (error) {
      void leg.hangUp();
      this.#reject(reasonOf(error), statusOf(error), { cause: error });
    }
  }

  #end(): void {
    this.#state = 'over';
    this.#stopTimer();
    this.#stopResponseTimer();
  }

  #reject(why: string, sipStatus: number, facts: FailureFacts = {}): void {
    const message = `Cannot call through trunk "${this.#options.trunk.name}": ${why}`;
    this.#answered.reject(new CarrierError(message, sipStatus, facts));
  }
}

/** IP address of the proxy, which RTP may come from too; empty for a host name. */
function addressOf({ proxy }: Trunk): string {
  return isIP(proxy.host) === 0 ? '' : proxy.host;
}
