/** Transfer of a call to a third party: by REFER, or by a second call whose audio is joined with the first. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { AudioEvent, AudioStream, MediaSession } from '../../../media/audio-stream.ts';
import { CarrierError, type Leg, type OutgoingCall, type TransferOptions } from '../../carrier.ts';
import { connectAudio, type MediaEndpoint, mixAudio, statusOf } from '../../media-gateway.ts';
import { ringbackFor } from '../../ringback.ts';
import { isDialable } from '../../trunks/number.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import { reasonOf } from '../carrier/srf.ts';
import type { DialogPeer } from '../leg/in-dialog-request.ts';
import { type ReferNotice, Referral } from './referral.ts';

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
 * @param earlyMediaSink RTP session that hears early media; the second call's session is opened on the same worker.
 * @throws {CarrierError} when no trunk takes it.
 */
export type CallSecond = (number: string, earlyMediaSink: MediaSession) => SecondCall;

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
    if (!isDialable(number)) throw failure('the target is not a number', 484);
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
  async run({ announcement }: TransferOptions): Promise<SecondLeg | undefined> {
    const { callSecond, transferBy, log } = this.#options;
    if (transferBy === 'bridge' || announcement !== undefined) {
      return this.#bridge(announcement, connectAudio);
    }
    try {
      await this.#refer();
      return undefined;
    } catch (error) {
      // A carrier without REFER refuses the request itself; a failure by NOTIFY is one of the third party.
      const isRefused = this.#referral?.isRefused === true;
      if (transferBy === 'refer' || !isRefused || callSecond === undefined) throw error;
      log.info({ why: reasonOf(error) }, 'REFER was refused, the caller is put through by us');
      return this.#bridge(undefined, connectAudio);
    }
  }

  /**
   * Resolves when the third party is in a three-way call; never sends REFER.
   *
   * @returns its leg, mixed with this one and the agent.
   * @throws {CarrierError} when it was refused or failed.
   */
  async bringIn({ announcement }: TransferOptions): Promise<SecondLeg> {
    return this.#bridge(announcement, mixAudio);
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
    this.#stop(failure('the call is over', 481));
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

  async #bridge(
    announcement: TransferOptions['announcement'],
    connect: typeof connectAudio,
  ): Promise<SecondLeg> {
    const { endpoint, callSecond, transferBy } = this.#options;
    if (transferBy === 'refer') throw failure('its trunk transfers by REFER alone', 501);
    if (callSecond === undefined) throw failure('there is no trunk to call through', 404);
    // REFER may be refused because the call has ended meanwhile.
    if (this.#isStopped) throw failure('the call is over', 481);
    const { session: line } = endpoint;
    const second = callSecond(this.#number, line);
    this.#second = second;
    second.onRinging(() => line.setBackground(ringbackFor(this.#number)));
    try {
      const leg = await second.answered;
      try {
        await this.#join(leg, announcement, connect);
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
    announcement: TransferOptions['announcement'],
    connect: typeof connectAudio,
  ): Promise<void> {
    const { endpoint } = this.#options;
    leg.onReleased(() => this.#stop(failure('the other party has hung up', 480)));
    // The caller must not hear the announcement.
    endpoint.session.feedFrom(undefined);
    try {
      const steps = async () => {
        if (announcement !== undefined) await this.#announce(leg, announcement());
        if (!this.#isStopped) connect(endpoint, leg.endpoint);
      };
      await Promise.race([this.#stopped.promise, steps()]);
    } catch (error) {
      if (error instanceof CarrierError) throw error;
      throw failure(reasonOf(error), statusOf(error), error);
    }
  }

  async #announce(leg: SecondLeg, words: AsyncIterable<Int16Array>): Promise<void> {
    const { clock, log } = this.#options;
    try {
      await announce(leg.audio, words, clock);
    } catch (error) {
      // The caller and the third party can still talk to each other.
      log.warn({ why: reasonOf(error) }, 'a caller is put through without an announcement');
    }
  }
}

function failure(why: string, sipStatus: number, cause?: unknown): CarrierError {
  const options = cause === undefined ? {} : { cause };
  return new CarrierError(`Cannot transfer the call: ${why}`, sipStatus, options);
}

/** Wait for the third party's greeting before the announcement. */
const GREETING_MS_MAX = 2_000;

/** The caller waits meanwhile: what takes longer is cut off. */
const ANNOUNCEMENT_MS_MAX = 15_000;

/** Generation of the only reply on this session. */
const ONLY_REPLY = 1;

/**
 * Plays the announcement; resolves at its end.
 *
 * @param words 8 kHz, mono, in chunks of any length.
 * @throws the synthesiser's error.
 */
async function announce(
  audio: AudioStream,
  words: AsyncIterable<Int16Array>,
  clock: Clock,
): Promise<void> {
  await eventOrLimit(audio, 'voice-stopped', { clock, limitMs: GREETING_MS_MAX });
  const isSaid = eventOrLimit(audio, 'playout-finished', { clock, limitMs: ANNOUNCEMENT_MS_MAX });
  audio.begin(ONLY_REPLY);
  const voice = words[Symbol.asyncIterator]();
  for (;;) {
    // A voice that stalls is waited for no longer than one that talks on.
    const next = await Promise.race([voice.next(), isSaid]);
    if (next === undefined || next.done === true) break;
    audio.say(ONLY_REPLY, next.value);
  }
  audio.finish(ONLY_REPLY);
  await isSaid;
  audio.drop(ONLY_REPLY);
  // The rest is discarded; a stuck synthesiser may fail later.
  voice.return?.().catch(() => undefined);
}

function eventOrLimit(
  audio: AudioStream,
  kind: AudioEvent['kind'],
  { clock, limitMs }: { readonly clock: Clock; readonly limitMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    audio.onEvent((event) => {
      if (event.kind !== kind) return;
      cancel();
      resolve();
    });
  });
}
