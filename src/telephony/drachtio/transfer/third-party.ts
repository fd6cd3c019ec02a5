/** Whom else the far end of a call talks to: a partner in the agent's place, or a third one beside it; one at a time. */
import type { Logger } from '../../../lib/logger.ts';
import {
  CarrierError,
  type ReleaseCause,
  type ThreeWayCall,
  type TransferOptions,
  type TransferOutcome,
} from '../../carrier.ts';
import { connectAudio, type MediaEndpoint, MediaError } from '../../media-gateway.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import { reasonOf } from '../carrier/srf.ts';
import type { DialogPeer } from '../leg/in-dialog-request.ts';
import type { ReferNotice } from './referral.ts';
import { type CallSecond, type SecondLeg, TransferRequest } from './transfer.ts';

export interface ThirdPartyOptions extends DialogPeer {
  readonly endpoint: MediaEndpoint;
  readonly log: Logger;
  /** Where numbers of a transfer live: the domain behind the `@`. */
  readonly referDomain: string;
  /** How the trunk wants callers handed over; `auto` when not given. */
  readonly transferBy?: Trunk['transfer'] | undefined;
  /** Calls whoever a caller is handed over to; absent where there is no trunk to call through. */
  readonly callSecond?: CallSecond | undefined;
}

/** What it asks of its call's leg. */
export interface Host {
  /** Whether the leg is over, or about to be. */
  isEnding(): boolean;
  /** Takes a key of a third one. */
  pressed(digit: string): void;
  /** Says BYE. */
  end(cause: ReleaseCause): void;
}

export class ThirdParty {
  readonly #options: ThirdPartyOptions;
  readonly #host: Host;
  #attempt: TransferRequest | undefined;
  #isReferred = false;
  #partner: SecondLeg | undefined;
  #threeWay: SrfThreeWayCall | undefined;

  constructor(options: ThirdPartyOptions, host: Host) {
    this.#options = options;
    this.#host = host;
  }

  /** Whether the far end has agreed to go by itself. */
  get isReferred(): boolean {
    return this.#isReferred || this.#attempt?.isReferred === true;
  }

  /** Whether the far end talks to another one in the agent's place. */
  get hasPartner(): boolean {
    return this.#partner !== undefined;
  }

  /**
   * Resolves when the other party has answered: joined with the far end, or called by the far end itself.
   *
   * @throws {CarrierError} as `Leg.transfer`.
   */
  transfer(number: string, options: TransferOptions): Promise<TransferOutcome> {
    return this.#try(number, async (attempt) => {
      const partner = await attempt.run(options);
      this.#isReferred = partner === undefined;
      if (partner === undefined) return 'referred';
      this.#connectPartner(partner);
      return 'joined';
    });
  }

  /** @throws {CarrierError} as `Leg.bringIn`. */
  bringIn(number: string, options: TransferOptions): Promise<ThreeWayCall> {
    return this.#try(number, async (attempt) => {
      const guest = await attempt.bringIn(options);
      this.#refuseEnding(guest);
      this.#threeWay = new SrfThreeWayCall({
        endpoint: this.#options.endpoint,
        guest,
        onDigit: (digit) => this.#host.pressed(digit),
        connectPartner: (partner) => this.#connectPartner(partner),
      });
      return this.#threeWay;
    });
  }

  /** Takes what the far end tells of a REFER. */
  notified(notice: ReferNotice): void {
    this.#attempt?.notified(notice);
  }

  /** The far end has left by its own will. */
  farEndLeft(): void {
    this.#attempt?.farEndLeft();
  }

  /** Passes a key of the far end's that came by INFO to whoever else hears it; keys in the sound cross by themselves. */
  passDigit(digit: string): void {
    this.#threeWay?.press(digit);
    this.#partner?.endpoint.session.sendDigits(digit);
  }

  /** Our BYE goes out: nobody else listens to silence until it is answered. Safe to call twice. */
  hangUp(): void {
    this.#threeWay?.end();
    void this.#partner?.hangUp();
  }

  /** The leg is over: so is all company. Safe to call twice. */
  stop(): void {
    this.#attempt?.stop();
    this.hangUp();
  }

  async #try<T>(number: string, work: (attempt: TransferRequest) => Promise<T>): Promise<T> {
    if (this.#host.isEnding()) throw over();
    if (this.#attempt !== undefined || this.#threeWay?.isOn === true) {
      throw new CarrierError('Cannot transfer the call: another transfer is in progress', 491);
    }
    if (this.#partner !== undefined) {
      throw new CarrierError('Cannot transfer the call: it was handed over already', 491);
    }
    const { callSecond, transferBy = 'auto' } = this.#options;
    const attempt = new TransferRequest({ ...this.#options, callSecond, transferBy }, number);
    this.#attempt = attempt;
    try {
      return await work(attempt);
    } finally {
      this.#attempt = undefined;
    }
  }

  /** The far end talks to another one from now on, until either of them hangs up. */
  #connectPartner(partner: SecondLeg): void {
    const { endpoint } = this.#options;
    this.#refuseEnding(partner);
    this.#partner = partner;
    partner.onDigit((digit) => endpoint.session.sendDigits(digit));
    // Where it has hung up in the same moment, this is called at once.
    partner.onReleased(() => this.#host.end({ kind: 'transferred' }));
  }

  #refuseEnding(partner: SecondLeg): void {
    if (!this.#host.isEnding()) return;
    void partner.hangUp();
    throw over();
  }
}

function over(): CarrierError {
  return new CarrierError('Cannot transfer the call: it is over', 481);
}

/** A caller, somebody who was called for him, and the agent on one line, until one of the three is gone. */
export interface ThreeWayCallOptions {
  /** The caller's. */
  readonly endpoint: MediaEndpoint;
  /** The other party's, mixed with the caller and the agent. */
  readonly guest: SecondLeg;
  /** Takes the other party's keys. */
  readonly onDigit: (digit: string) => void;
  /** Lets the two, who are connected, go on without the agent. @throws {CarrierError} when the call is over. */
  readonly connectPartner: (guest: SecondLeg) => void;
}

export class SrfThreeWayCall implements ThreeWayCall {
  readonly #options: ThreeWayCallOptions;
  /** `left`: the agent is gone from the line. */
  #state: 'on' | 'alone' | 'left' | 'over' = 'on';
  #onAlone: () => void = () => {};

  constructor(options: ThreeWayCallOptions) {
    const { endpoint, guest, onDigit } = options;
    this.#options = options;
    guest.audio.onEvent((event) => {
      if (event.kind === 'digit' && this.isOn) onDigit(event.digit);
    });
    guest.onDigit((digit) => {
      if (!this.isOn) return;
      onDigit(digit);
      // Keys in the sound cross by themselves; those by INFO come this way alone.
      endpoint.session.sendDigits(digit);
    });
    guest.onReleased(() => this.#guestLeft());
  }

  /** Whether all three are there. */
  get isOn(): boolean {
    return this.#state === 'on';
  }

  /** Passes a key of the caller's on that came by INFO. */
  press(digit: string): void {
    if (this.isOn) this.#options.guest.endpoint.session.sendDigits(digit);
  }

  onAlone(listener: () => void): void {
    this.#onAlone = listener;
    if (this.#state === 'alone') listener();
  }

  async leave(): Promise<void> {
    if (this.#state === 'left') return;
    const { endpoint, guest, connectPartner } = this.#options;
    if (this.#state !== 'on') throw failure('one of the two has hung up', 480);
    try {
      connectAudio(endpoint, guest.endpoint);
    } catch (error) {
      throw failure(reasonOf(error), error instanceof MediaError ? error.sipStatus : 500, error);
    }
    endpoint.session.mixWith(undefined);
    this.#state = 'left';
    connectPartner(guest);
  }

  /** The caller is gone: so is the other party. Safe to call twice. */
  end(): void {
    if (!this.isOn) return;
    this.#state = 'over';
    void this.#options.guest.hangUp();
  }

  #guestLeft(): void {
    if (!this.isOn) return;
    this.#state = 'alone';
    this.#options.endpoint.session.mixWith(undefined);
    this.#onAlone();
  }
}

function failure(why: string, sipStatus: number, cause?: unknown): CarrierError {
  const options = cause === undefined ? {} : { cause };
  return new CarrierError(`Cannot take the agent out of the call: ${why}`, sipStatus, options);
}
