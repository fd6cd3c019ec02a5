/** A telephone that rings, at either end of a simulated call, until somebody picks up or gives up. */
import type { PartyScript } from '../../domain/sandbox/sandbox-script.ts';
import type { Clock } from '../../lib/clock.ts';
import { CarrierError } from '../carrier.ts';
import type { SandboxLeg } from './sandbox-leg.ts';

export interface SandboxRingingOptions {
  readonly script: PartyScript;
  readonly ringingTimeoutMs: number;
  /** Resolves when the party can speak: it does not pick up before. */
  readonly voice: Promise<void>;
  readonly pickUp: () => SandboxLeg;
  readonly clock: Clock;
}

/** Only the first call of a scenario waits for its party's voice; one that takes longer than this is done without. */
const VOICE_MS_MAX = 20_000;

export class SandboxRinging {
  /** Rejects with a `CarrierError`: the script's status, or 487 where it rang for too long or was given up. */
  readonly answered: Promise<SandboxLeg>;
  readonly #options: SandboxRingingOptions;
  readonly #givenUp = Promise.withResolvers<never>();

  constructor(options: SandboxRingingOptions) {
    this.#options = options;
    // Both may be rejected while nobody asks for them, which must not end the process.
    this.#givenUp.promise.catch(() => undefined);
    this.answered = this.#ring();
    this.answered.catch(() => undefined);
  }

  /** Gives up; where somebody has picked up, hangs up. Safe to call twice. */
  cancel(): void {
    this.#givenUp.reject(new CarrierError('The call was given up', 487));
    this.answered.then(
      (leg) => leg.hangUp(),
      () => undefined,
    );
  }

  async #ring(): Promise<SandboxLeg> {
    const { pickUp, ringingTimeoutMs, script, voice } = this.#options;
    const isTooLong = script.ringingMs > ringingTimeoutMs;
    await this.#passed(isTooLong ? ringingTimeoutMs : script.ringingMs);
    if (isTooLong) throw new CarrierError('Nobody picked up in time', 487);
    if (script.refusedWith !== null) {
      throw new CarrierError('The party did not take the call', script.refusedWith, {
        refusedWith: script.refusedWith,
      });
    }
    await this.#passed(VOICE_MS_MAX, voice);
    return pickUp();
  }

  /** Resolves after a time, or as soon as `earlier` does. @throws {CarrierError} when the call is given up meanwhile. */
  async #passed(delayMs: number, earlier?: Promise<void>): Promise<void> {
    const timer = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(delayMs, timer.resolve);
    const passed = earlier === undefined ? [timer.promise] : [earlier, timer.promise];
    try {
      await Promise.race([this.#givenUp.promise, ...passed]);
    } finally {
      cancel();
    }
  }
}
