/** Leg of a simulated call, with a scripted party at its other end. */
import type { PartyScript } from '../../domain/sandbox-scenario.ts';
import type { ScaledClock } from '../../lib/clock.ts';
import {
  type Leg,
  type ReleaseCause,
  type ThreeWayCall,
  type TransferOutcome,
  transferFailure,
} from '../carrier.ts';
import { SandboxLine } from './sandbox-line.ts';

/** Time until the third party of a transfer answers. */
const TRANSFER_MS = 1500;

/** Leg of a simulated call. */
export class SandboxLeg implements Leg {
  readonly audio: SandboxLine;
  readonly #script: PartyScript;
  readonly #onOver: () => void;
  readonly #closed = Promise.withResolvers<void>();
  #clock: ScaledClock | undefined;
  #cause: ReleaseCause | undefined;
  #isTransferring = false;
  #onReleased: (cause: ReleaseCause) => void = () => {};

  constructor(options: {
    readonly script: PartyScript;
    readonly pcmOf: (text: string) => Int16Array | undefined;
    /** E.164, of the scripted party. */
    readonly partyNumber: string;
    /** Called once, when the leg is released. */
    readonly onOver: () => void;
  }) {
    this.#script = options.script;
    this.#onOver = options.onOver;
    this.audio = new SandboxLine({
      script: options.script,
      pcmOf: options.pcmOf,
      partyNumber: options.partyNumber,
      farEnd: {
        hangUp: () => this.#release({ kind: 'far-end' }),
        breakOff: () =>
          this.#release({ kind: 'broken', reason: 'the simulated network has failed' }),
      },
    });
  }

  /** Lets the call's time begin: the party does nothing before. Once, before anything else. */
  open(clock: ScaledClock): void {
    this.#clock = clock;
    if (this.#cause !== undefined) return;
    if (this.#script.steps[0]?.kind === 'wait') this.#beginSlowly(clock);
    this.audio.open(clock);
  }

  /** A party that acts within the greeting's first second does so in real time: faster, a busy process would miss it. */
  #beginSlowly(clock: ScaledClock): void {
    const speedUp = clock.slowDown();
    this.audio.onEvent(({ kind }) => {
      if (kind === 'voice-started') speedUp();
    });
  }

  onReleased(listener: (cause: ReleaseCause) => void): void {
    this.#onReleased = listener;
    if (this.#cause !== undefined) listener(this.#cause);
  }

  /** The party's keys arrive in the audio stream. */
  onDigit(): void {}

  record(path: string): void {
    this.audio.record(path);
  }

  hangUp(): Promise<void> {
    this.#release({ kind: 'near-end' });
    return this.#closed.promise;
  }

  /** Simulates no third party: the leg is released. */
  async transfer(_number: string): Promise<TransferOutcome> {
    await this.#pickedUp();
    this.#release({ kind: 'transferred' });
    return 'referred';
  }

  /** The third party says nothing, and stays. */
  async bringIn(_number: string): Promise<ThreeWayCall> {
    await this.#pickedUp();
    return {
      onAlone: () => undefined,
      leave: async () => {
        if (this.#cause === undefined) this.#release({ kind: 'transferred' });
        else if (this.#cause.kind !== 'transferred')
          throw transferFailure('the caller is gone', 480);
      },
    };
  }

  /** Resolves when the third party of a transfer has answered. @throws {CarrierError} when it cannot. */
  #pickedUp(): Promise<void> {
    const clock = this.#clock;
    if (this.#cause !== undefined || clock === undefined) {
      return Promise.reject(transferFailure('it is over', 481));
    }
    if (this.#isTransferring) {
      return Promise.reject(transferFailure('another transfer is in progress', 491));
    }
    this.#isTransferring = true;
    return new Promise((resolve, reject) => {
      clock.after(TRANSFER_MS, () => {
        if (this.#cause === undefined) resolve();
        else reject(transferFailure('the caller is gone', 487));
      });
    });
  }

  /** Ends the leg; the first cause counts. */
  #release(cause: ReleaseCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    // The recording and the record are finished in real time.
    this.#clock?.slowDown();
    this.#onReleased(cause);
    this.#onOver();
    this.#closed.resolve(this.audio.close());
  }
}
