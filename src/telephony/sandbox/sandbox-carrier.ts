/** Simulated telephone network: the other party of each call is a script in this process. */
import {
  PARTY_SCRIPTS,
  type PartyScript,
  partyLines,
  type SandboxScenario,
  scenarioOfNumber,
} from '../../domain/sandbox-scenario.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import {
  type Carrier,
  CarrierError,
  type CarrierReport,
  type IncomingCall,
  type OutgoingCall,
  type TrunkRoute,
} from '../carrier.ts';
import { SandboxLeg } from './sandbox-leg.ts';

/** Every number has the same route, without limits. */
const UNLIMITED: TrunkRoute = {
  trunk: 'sandbox',
  callsPerSecond: undefined,
  free: Number.POSITIVE_INFINITY,
  total: Number.POSITIVE_INFINITY,
};

interface SandboxCarrierOptions {
  /** Clock of ringing times; a leg has the clock of its own call. */
  readonly clock: Clock;
  /** Makes the identifier of a call. */
  readonly newSid: () => string;
  /** Speaks a sentence of a party: 8 kHz, mono, in chunks of any length. */
  readonly speak: (text: string) => AsyncIterable<Int16Array>;
  readonly log: Logger;
}

/** Has no socket and no trunk. Its legs (`SandboxLeg`) do not move before they are opened with their call's clock. */
export class SandboxCarrier implements Carrier {
  readonly #options: SandboxCarrierOptions;
  readonly #voices: PartyVoices;
  /** Ringing and connected calls. */
  readonly #live = new Set<SandboxRinging>();
  #isDraining = false;

  constructor(options: SandboxCarrierOptions) {
    this.#options = options;
    this.#voices = new PartyVoices(options);
  }

  /** Incoming calls are made by `ringIn`. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  drain(): void {
    this.#isDraining = true;
  }

  stop(): Promise<void> {
    this.drain();
    for (const ringing of this.#live) ringing.cancel();
    return Promise.resolve();
  }

  /** Calls the party selected by the last two digits of `to`. @throws {CarrierError} 503 after `drain`. */
  place(request: {
    readonly from: string;
    readonly to: string;
    readonly ringingTimeoutMs: number;
  }): OutgoingCall {
    if (this.#isDraining) throw new CarrierError('Cannot call: the server stops', 503);
    const { to, ringingTimeoutMs } = request;
    const script = PARTY_SCRIPTS[scenarioOfNumber(to)];
    const ringing = this.#ring({ script, partyNumber: to, ringingTimeoutMs });
    return {
      carrierCallSid: this.#options.newSid(),
      onRinging: (listener) => queueMicrotask(listener),
      answered: ringing.answered,
      cancel: () => ringing.cancel(),
    };
  }

  /** Makes an incoming call. The scenario decides what the party does, not its number. */
  ringIn(request: {
    readonly from: string;
    readonly to: string;
    readonly scenario: SandboxScenario;
  }): IncomingCall {
    const { from, to, scenario } = request;
    const script = PARTY_SCRIPTS[scenario];
    const ringingTimeoutMs = Number.POSITIVE_INFINITY;
    const ringing = this.#ring({ script, partyNumber: from, ringingTimeoutMs });
    return {
      carrierCallSid: this.#options.newSid(),
      from,
      to,
      onCancelled: (listener) => void ringing.answered.catch(listener),
      reject: () => ringing.cancel(),
      ring: () => undefined,
      answer: () => ringing.answered,
    };
  }

  routeFor(): TrunkRoute {
    return UNLIMITED;
  }

  reports(): readonly CarrierReport[] {
    return [{ name: 'sandbox', isReady: true, state: 'simulates calls in this process' }];
  }

  #ring(facts: {
    readonly script: PartyScript;
    readonly partyNumber: string;
    readonly ringingTimeoutMs: number;
  }): SandboxRinging {
    const { script, partyNumber, ringingTimeoutMs } = facts;
    const over = () => this.#live.delete(ringing);
    const ringing = new SandboxRinging({
      script,
      ringingTimeoutMs,
      voice: this.#voices.prepare(script),
      pickUp: () =>
        new SandboxLeg({
          script,
          partyNumber,
          pcmOf: (text) => this.#voices.pcmOf(text),
          onOver: over,
        }),
      clock: this.#options.clock,
    });
    this.#live.add(ringing);
    ringing.answered.catch(over);
    return ringing;
  }
}

/** Cache of spoken sentences. Scripts are few and fixed: one megabyte in all. */
class PartyVoices {
  readonly #speak: (text: string) => AsyncIterable<Int16Array>;
  readonly #log: Logger;
  readonly #pcm = new Map<string, Int16Array>();
  readonly #spoken = new Map<string, Promise<void>>();

  constructor({ speak, log }: Pick<SandboxCarrierOptions, 'speak' | 'log'>) {
    this.#speak = speak;
    this.#log = log;
  }

  /**
   * Synthesises the script's missing sentences; retries failed ones. Never rejects: a sentence that fails stays
   * silent.
   */
  async prepare(script: PartyScript): Promise<void> {
    await Promise.all(
      partyLines(script).map((text) => {
        const spoken =
          this.#spoken.get(text) ??
          this.#speakLine(text).catch((error: unknown) => {
            this.#spoken.delete(text);
            this.#log.warn(
              { err: error },
              'sandbox: the scripted party has no voice for a sentence',
            );
          });
        this.#spoken.set(text, spoken);
        return spoken;
      }),
    );
  }

  /** Undefined unless the sentence is spoken. */
  pcmOf(text: string): Int16Array | undefined {
    return this.#pcm.get(text);
  }

  async #speakLine(text: string): Promise<void> {
    const samples: number[] = [];
    for await (const chunk of this.#speak(text)) for (const sample of chunk) samples.push(sample);
    this.#pcm.set(text, Int16Array.from(samples));
  }
}

interface SandboxRingingOptions {
  readonly script: PartyScript;
  readonly ringingTimeoutMs: number;
  /** Resolves when the party can speak: it does not pick up before. */
  readonly voice: Promise<void>;
  readonly pickUp: () => SandboxLeg;
  readonly clock: Clock;
}

/** Longest wait for a party's voice, which only the first call of a scenario has; one that takes longer is done without. */
const VOICE_MS_MAX = 20_000;

/** Ringing at either end of a simulated call, until it is answered or given up. */
class SandboxRinging {
  /** Rejects with a `CarrierError`: the script's status, or 487 after the time limit or `cancel`. */
  readonly answered: Promise<SandboxLeg>;
  readonly #options: SandboxRingingOptions;
  readonly #givenUp = Promise.withResolvers<never>();

  constructor(options: SandboxRingingOptions) {
    this.#options = options;
    // Both may reject without a listener, which must not end the process.
    this.#givenUp.promise.catch(() => undefined);
    this.answered = this.#ring();
    this.answered.catch(() => undefined);
  }

  /** Gives up; hangs up an answered call. Safe to call twice. */
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
    if (isTooLong) throw new CarrierError('No answer in time', 487);
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
