/** A caller, somebody who was called for him, and the agent on one line, until one of the three is gone. */
import { CarrierError, type ThreeWayCall } from '../../carrier.ts';
import { connectSound, type MediaEndpoint, MediaError } from '../../media-gateway.ts';
import { reasonOf } from '../carrier/srf.ts';
import type { SecondLeg } from './transfer.ts';

export interface ThreeWayCallOptions {
  /** The caller's. */
  readonly endpoint: MediaEndpoint;
  /** The other party's, mixed with the caller and the agent. */
  readonly guest: SecondLeg;
  /** Takes the other party's keys. */
  readonly onDigit: (digit: string) => void;
  /** Lets the two, who are connected, go on without the agent. @throws {CarrierError} when the call is over. */
  readonly stepAside: (guest: SecondLeg) => void;
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
      endpoint.line.sendDigits(digit);
    });
    guest.onReleased(() => this.#alone());
  }

  /** Whether all three are there. */
  get isOn(): boolean {
    return this.#state === 'on';
  }

  /** Passes a key of the caller's on that came by INFO. */
  press(digit: string): void {
    if (this.isOn) this.#options.guest.endpoint.line.sendDigits(digit);
  }

  onAlone(listener: () => void): void {
    this.#onAlone = listener;
    if (this.#state === 'alone') listener();
  }

  async leave(): Promise<void> {
    if (this.#state === 'left') return;
    const { endpoint, guest, stepAside } = this.#options;
    if (this.#state !== 'on') throw failure('one of the two has hung up', 480);
    try {
      connectSound(endpoint, guest.endpoint);
    } catch (error) {
      throw failure(reasonOf(error), error instanceof MediaError ? error.sipStatus : 500, error);
    }
    endpoint.line.mixWith(undefined);
    this.#state = 'left';
    stepAside(guest);
  }

  /** The caller is gone: so is the other party. Safe to call twice. */
  end(): void {
    if (!this.isOn) return;
    this.#state = 'over';
    void this.#options.guest.hangUp();
  }

  #alone(): void {
    if (!this.isOn) return;
    this.#state = 'alone';
    this.#options.endpoint.line.mixWith(undefined);
    this.#onAlone();
  }
}

function failure(why: string, sipStatus: number, cause?: unknown): CarrierError {
  const options = cause === undefined ? {} : { cause };
  return new CarrierError(`Cannot take the agent out of the call: ${why}`, sipStatus, options);
}
