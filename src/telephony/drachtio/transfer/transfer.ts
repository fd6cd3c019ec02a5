/** Transfer of a call to a third party: by REFER, followed by NOTIFY, or by a second call whose audio is joined with the first. */

import { within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { MediaSession } from '../../../media/audio-stream.ts';
import { isDialable } from '../../call-headers.ts';
import {
  CarrierError,
  type Leg,
  type OutgoingCall,
  type TransferOptions,
  transferFailure,
} from '../../carrier.ts';
import { connectAudio, type MediaEndpoint, mixAudio, statusOf } from '../../media-gateway.ts';
import { ringbackFor } from '../../ringback.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import { reasonOf, type SrfRequest } from '../carrier/srf.ts';
import { type DialogPeer, sendInDialog } from '../leg/in-dialog-request.ts';
import { consult } from './consultation.ts';

/** The leg of a second call, which can be joined with the first. */
export interface SecondLeg extends Leg {
  readonly endpoint: MediaEndpoint;
}

/** Second call, whose early media the first one hears. */
export interface SecondCall extends Pick<OutgoingCall, 'onRinging' | 'cancel'> {
  readonly answered: Promise<SecondLeg>;
}

/**
 * Places the second call.
 *
 * @param sound.near RTP session on whose worker the second call's session is opened.
 * @param sound.isEarlyMediaHeard whether it hears early media.
 * @throws {CarrierError} when no trunk takes it.
 */
export type CallSecond = (
  number: string,
  sound: { readonly near: MediaSession; readonly isEarlyMediaHeard: boolean },
) => SecondCall;

/** Parameters for calling a third party. */
export interface ThirdPartyOptions extends DialogPeer {
  readonly endpoint: MediaEndpoint;
  readonly log: Logger;
  /** Domain of the Refer-To URI. */
  readonly referDomain: string;
  /** Transfer method of the trunk; default: `auto`. */
  readonly transferBy?: Trunk['transfer'] | undefined;
  /** Places the second call; undefined without a trunk. */
  readonly callSecond?: CallSecond | undefined;
  /** Sound that the caller hears meanwhile, repeated: 8 kHz, mono; default: the ringing tone, and early media. */
  readonly holdMusic?: Int16Array | undefined;
}

/** One attempt. Once only. */
export class TransferRequest {
  readonly #options: ThirdPartyOptions;
  readonly #number: string;
  readonly #stopped = Promise.withResolvers<never>();
  #referral: Referral | undefined;
  #second: SecondCall | undefined;
  #isStopped = false;

  /** @throws {CarrierError} 484 when it is no number. */
  constructor(options: ThirdPartyOptions, number: string) {
    if (!isDialable(number)) throw transferFailure('the target is not a number', 484);
    this.#options = options;
    this.#number = number;
    this.#stopped.promise.catch(() => undefined);
  }

  /** Whether the far end has accepted a REFER. */
  get isReferred(): boolean {
    return this.#referral?.isAccepted === true;
  }

  /**
   * Resolves when the third party has answered.
   *
   * @returns its leg, connected with this one; undefined after a REFER.
   * @throws {CarrierError} when it was refused or failed.
   */
  async run(options: TransferOptions): Promise<SecondLeg | undefined> {
    const { callSecond, transferBy, log } = this.#options;
    const isConsulted = options.announcement !== undefined || options.acceptance !== undefined;
    if (transferBy === 'bridge' || isConsulted) return this.#bridge(options, connectAudio);
    try {
      await this.#refer();
      return undefined;
    } catch (error) {
      // A carrier without REFER refuses the request itself; a failure by NOTIFY is one of the third party.
      const isRefused = this.#referral?.isRefused === true;
      if (transferBy === 'refer' || !isRefused || callSecond === undefined) throw error;
      log.info({ why: reasonOf(error) }, 'REFER was refused, the caller is put through by us');
      return this.#bridge({}, connectAudio);
    }
  }

  /**
   * Resolves when the third party is in a three-way call; never sends REFER.
   *
   * @returns its leg, mixed with this one and the agent.
   * @throws {CarrierError} when it was refused or failed.
   */
  async bringIn(options: TransferOptions): Promise<SecondLeg> {
    return this.#bridge(options, mixAudio);
  }

  /** Handles a NOTIFY of a REFER. */
  notified(notice: ReferNotice): void {
    this.#referral?.notified(notice);
  }

  /** The far end has hung up: after an accepted REFER the transfer has succeeded. */
  farEndLeft(): void {
    this.#referral?.farEndLeft();
  }

  /** Gives up: the call is over. */
  stop(): void {
    this.#referral?.stop();
    this.#stop(transferFailure('the call is over', 481));
    this.#second?.cancel();
  }

  #stop(why: CarrierError): void {
    this.#isStopped = true;
    this.#stopped.reject(why);
  }

  async #refer(): Promise<void> {
    this.#referral = new Referral(
      this.#options,
      `sip:${this.#number}@${this.#options.referDomain}`,
    );
    await this.#referral.run();
  }

  async #bridge(options: TransferOptions, connect: typeof connectAudio): Promise<SecondLeg> {
    const { endpoint, callSecond, holdMusic, transferBy } = this.#options;
    if (transferBy === 'refer') throw transferFailure('its trunk transfers by REFER alone', 501);
    if (callSecond === undefined) throw transferFailure('there is no trunk to call through', 404);
    // REFER may be refused because the call has ended meanwhile.
    if (this.#isStopped) throw transferFailure('the call is over', 481);
    const { session: line } = endpoint;
    const isEarlyMediaHeard = holdMusic === undefined;
    const second = callSecond(this.#number, { near: line, isEarlyMediaHeard });
    this.#second = second;
    if (holdMusic !== undefined) line.setBackground(holdMusic);
    else second.onRinging(() => line.setBackground(ringbackFor(this.#number)));
    try {
      const leg = await second.answered;
      try {
        await this.#join(leg, options, connect);
      } catch (error) {
        void leg.hangUp();
        throw error;
      }
      return leg;
    } finally {
      line.setBackground(undefined);
    }
  }

  async #join(
    leg: SecondLeg,
    options: TransferOptions,
    connect: typeof connectAudio,
  ): Promise<void> {
    const { endpoint, clock, log } = this.#options;
    leg.onReleased(() => this.#stop(transferFailure('the other party has hung up', 480)));
    // The caller must not hear the consultation of agent and third party.
    endpoint.session.feedFrom(undefined);
    const consulting = new AbortController();
    try {
      const steps = async () => {
        await consult(leg, options, { clock, log, signal: consulting.signal });
        if (!this.#isStopped) connect(endpoint, leg.endpoint);
      };
      await Promise.race([this.#stopped.promise, steps()]);
    } catch (error) {
      if (error instanceof CarrierError) throw error;
      throw transferFailure(reasonOf(error), statusOf(error), error);
    } finally {
      consulting.abort();
    }
  }
}

/** How long the other party may ring: as long as a Proxy lets an INVITE ring at least. RFC 3261, 16.6. */
const OUTCOME_MS_MAX = 180_000;

/** Content of a NOTIFY. */
export interface ReferNotice {
  /** Status line of the far end's call. */
  readonly sipfrag: string;
  /** Whether it is the last NOTIFY. */
  readonly isTerminated: boolean;
  /** CSeq of the REFER it refers to; undefined without an id, as for the first REFER of a dialog. */
  readonly sequence: string | undefined;
}

/**
 * Whether a NOTIFY refers to a REFER, which is the default.
 *
 * Also true without a REFER in progress: NOTIFYs of an abandoned one come late, and some peers take a 481 for the end
 * of the dialog.
 */
export function isOfRefer(notify: SrfRequest): boolean {
  const [event = ''] = (notify.get('event') ?? 'refer').split(';', 1);
  return event.trim().toLowerCase() === 'refer';
}

/** Reads a NOTIFY. @see RFC 3515 section 2.4.6 */
export function noticeOf(notify: SrfRequest): ReferNotice {
  const [, sequence] = /;\s*id\s*=\s*(\d+)/i.exec(notify.get('event') ?? '') ?? [];
  const state = notify.get('subscription-state') ?? '';
  const isTerminated = /^\s*terminated\b/i.test(state);
  return { sipfrag: notify.body ?? '', isTerminated, sequence };
}

/** One REFER and its NOTIFYs. @see RFC 3515, RFC 5589 section 6.1 */
class Referral {
  readonly #peer: DialogPeer;
  readonly #target: string;
  readonly #outcome = Promise.withResolvers<void>();
  #isAccepted = false;
  #isRefused = false;
  /** CSeq of the REFER; known after its response. */
  #sequence: string | undefined;

  /** @param target SIP URI of the third party. */
  constructor(peer: DialogPeer, target: string) {
    this.#peer = peer;
    this.#target = target;
    this.#outcome.promise.catch(() => undefined);
  }

  /** Whether the far end has accepted the REFER. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Whether the far end has refused the REFER, for example for lack of support. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /**
   * Resolves when the third party has answered.
   *
   * @throws {CarrierError} with the status of the far end, 408 without one.
   */
  async run(): Promise<void> {
    const { clock } = this.#peer;
    try {
      await this.#refer();
      await within(clock, OUTCOME_MS_MAX, this.#outcome.promise);
    } catch (error) {
      if (error instanceof CarrierError) throw error;
      throw transferFailure(reasonOf(error), 408, error);
    }
  }

  /** Handles a NOTIFY; ignores those of an earlier REFER. */
  notified({ sipfrag, isTerminated, sequence }: ReferNotice): void {
    const areKnown = sequence !== undefined && this.#sequence !== undefined;
    if (areKnown && sequence !== this.#sequence) return;
    const [, code] = /^SIP\/2\.0 (\d{3})\b/.exec(sipfrag.trimStart()) ?? [];
    const status = Number(code ?? 0);
    if (status >= 200 && status < 300) this.#outcome.resolve();
    else if (status >= 300) this.#outcome.reject(referralFailure(status));
    // No NOTIFY follows and the outcome is unknown: the caller is still with us.
    else if (isTerminated) this.#outcome.reject(referralFailure(408));
  }

  /** The far end has hung up. After an accepted REFER the transfer has succeeded. */
  farEndLeft(): void {
    if (this.#isAccepted) this.#outcome.resolve();
    else this.stop();
  }

  /** Gives up: the call is over. */
  stop(): void {
    this.#outcome.reject(transferFailure('it is over', 481));
  }

  async #refer(): Promise<void> {
    const { dialog } = this.#peer;
    const response = await sendInDialog(this.#peer, 'REFER', {
      headers: { 'Refer-To': `<${this.#target}>`, 'Referred-By': `<${dialog.local.uri}>` },
    });
    const { status } = response;
    this.#sequence = /^\s*(\d+)/.exec(response.get('cseq') ?? '')?.[1];
    // 481 and 408 mean that the call itself is gone, not that REFER is unsupported.
    this.#isRefused = status >= 300 && status !== 481 && status !== 408;
    if (status >= 300) throw referralFailure(status);
    this.#isAccepted = true;
  }
}

function referralFailure(sipStatus: number): CarrierError {
  return transferFailure(`the far end said ${sipStatus}`, sipStatus);
}
