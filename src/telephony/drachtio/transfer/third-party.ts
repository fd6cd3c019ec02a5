/** Third party of a call: transferred to, in the agent's place, or added to a three-way call; one at a time. */
import {
  CarrierError,
  type ReleaseCause,
  type ThreeWayCall,
  type TransferOptions,
  type TransferOutcome,
  transferFailure,
} from '../../carrier.ts';
import { connectAudio, type MediaEndpoint, statusOf } from '../../media-gateway.ts';
import { reasonOf } from '../carrier/srf.ts';
import {
  type ReferNotice,
  type SecondLeg,
  type ThirdPartyOptions,
  TransferRequest,
} from './transfer.ts';

/** Methods of the call's leg. */
export interface Host {
  /** Whether the leg is over, or about to be. */
  isEnding(): boolean;
  /** Takes a key of a third one. */
  pressed(digit: string): void;
  /** Ends the leg with BYE. */
  end(cause: ReleaseCause): void;
}

/** The third party of one leg: REFER, second call, or three-way call. */
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

  /** Whether the far end has accepted a REFER. */
  get isReferred(): boolean {
    return this.#isReferred || this.#attempt?.isReferred === true;
  }

  /** Whether a third party is called, or connected in any way. */
  get isBusy(): boolean {
    return this.#attempt !== undefined || this.hasPartner || this.#threeWay?.isOn === true;
  }

  /** Whether the far end is connected to a third party in the agent's place. */
  get hasPartner(): boolean {
    return this.#partner !== undefined;
  }

  /**
   * Resolves when the third party has answered: connected by us, or called by the far end.
   *
   * @throws {CarrierError} as `Leg.transfer`.
   */
  transfer(number: string, options: TransferOptions): Promise<TransferOutcome> {
    return this.#try(number, async (attempt) => {
      const partner = await attempt.run(options);
      this.#isReferred = partner === undefined;
      if (partner === undefined) return 'referred';
      this.#connectPartner(partner, options.onAlone);
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
        connectPartner: (partner, onAlone) => this.#connectPartner(partner, onAlone),
      });
      return this.#threeWay;
    });
  }

  /** Handles a NOTIFY of a REFER. */
  notified(notice: ReferNotice): void {
    this.#attempt?.notified(notice);
  }

  /** The far end has hung up. */
  farEndLeft(): void {
    this.#attempt?.farEndLeft();
  }

  /** Passes a DTMF digit by INFO to the third party; RTP events reach it by themselves. */
  passDigit(digit: string): void {
    this.#threeWay?.press(digit);
    this.#partner?.endpoint.session.sendDigits(digit);
  }

  /** Hangs up the third party. Safe to call twice. */
  hangUp(): void {
    this.#threeWay?.end();
    void this.#partner?.hangUp();
  }

  /** Ends the transfer and the third party's call. Safe to call twice. */
  stop(): void {
    this.#attempt?.stop();
    this.hangUp();
  }

  async #try<T>(number: string, work: (attempt: TransferRequest) => Promise<T>): Promise<T> {
    if (this.#host.isEnding()) throw transferFailure('it is over', 481);
    if (this.#attempt !== undefined || this.#threeWay?.isOn === true) {
      throw transferFailure('another transfer is in progress', 491);
    }
    if (this.#partner !== undefined) {
      throw transferFailure('it was transferred already', 491);
    }
    const attempt = new TransferRequest(this.#options, number);
    this.#attempt = attempt;
    try {
      return await work(attempt);
    } finally {
      this.#attempt = undefined;
    }
  }

  /** Connects the far end with the third party until either of them hangs up. */
  #connectPartner(partner: SecondLeg, onAlone: (() => void) | undefined): void {
    const { endpoint } = this.#options;
    this.#refuseEnding(partner);
    this.#partner = partner;
    partner.onDigit((digit) => endpoint.session.sendDigits(digit));
    // Called at once if it has just hung up.
    partner.onReleased(() => this.#partnerLeft(onAlone));
  }

  #partnerLeft(onAlone: (() => void) | undefined): void {
    if (onAlone === undefined || this.#host.isEnding()) {
      this.#host.end({ kind: 'transferred' });
      return;
    }
    this.#partner = undefined;
    this.#options.endpoint.session.feedFrom(undefined);
    onAlone();
  }

  #refuseEnding(partner: SecondLeg): void {
    if (!this.#host.isEnding()) return;
    void partner.hangUp();
    throw transferFailure('it is over', 481);
  }
}

/** Three-way call of caller, third party and agent, until one of them leaves. */
export interface ThreeWayCallOptions {
  /** Media endpoint of the caller. */
  readonly endpoint: MediaEndpoint;
  /** The other party's, mixed with the caller and the agent. */
  readonly guest: SecondLeg;
  /** Takes the other party's keys. */
  readonly onDigit: (digit: string) => void;
  /** Connects the two without the agent. @throws {CarrierError} when the call is over. */
  readonly connectPartner: (guest: SecondLeg, onAlone: (() => void) | undefined) => void;
}

class SrfThreeWayCall implements ThreeWayCall {
  readonly #options: ThreeWayCallOptions;
  /** `left`: the agent has left. */
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
      // RTP events reach the caller by themselves; digits by INFO need this.
      endpoint.session.sendDigits(digit);
    });
    guest.onReleased(() => this.#guestLeft());
  }

  /** Whether all three are there. */
  get isOn(): boolean {
    return this.#state === 'on';
  }

  /** Passes a DTMF digit of the caller by INFO. */
  press(digit: string): void {
    if (this.isOn) this.#options.guest.endpoint.session.sendDigits(digit);
  }

  onAlone(listener: () => void): void {
    this.#onAlone = listener;
    if (this.#state === 'alone') listener();
  }

  async leave(onAlone?: () => void): Promise<void> {
    if (this.#state === 'left') return;
    const { endpoint, guest, connectPartner } = this.#options;
    if (this.#state !== 'on') throw failure('one of the two has hung up', 480);
    try {
      connectAudio(endpoint, guest.endpoint);
    } catch (error) {
      throw failure(reasonOf(error), statusOf(error), error);
    }
    endpoint.session.mixWith(undefined);
    this.#state = 'left';
    connectPartner(guest, onAlone);
  }

  /** The caller has hung up: ends the third party's call. Safe to call twice. */
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
