/** A telephone network that is only played: whoever is called, or rings in, is a script in this process. */
import { type SandboxScenario, scenarioOfNumber } from '../../domain/sandbox/sandbox-scenario.ts';
import { PARTY_SCRIPTS, type PartyScript } from '../../domain/sandbox/sandbox-script.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import {
  type Carrier,
  CarrierError,
  type CarrierReport,
  type IncomingCall,
  type OutgoingCall,
} from '../carrier.ts';
import { LineBook } from './line-book.ts';
import { SandboxLeg } from './sandbox-leg.ts';
import { SandboxRinging } from './sandbox-ringing.ts';

interface SandboxCarrierOptions {
  /** For how long telephones ring; a leg's time is its call's own. */
  readonly clock: Clock;
  /** Makes the identifier of a call. */
  readonly newSid: () => string;
  /** Speaks a sentence of a party: 8 kHz, mono, in chunks of any length. */
  readonly speak: (text: string) => AsyncIterable<Int16Array>;
  readonly log: Logger;
}

/** Has no socket and no trunk. Its legs are `SandboxLeg`s, and stand still until they are opened with their call's clock. */
export class SandboxCarrier implements Carrier {
  readonly #options: SandboxCarrierOptions;
  readonly #lines: LineBook;
  /** What rings and what is connected. */
  readonly #live = new Set<SandboxRinging>();
  #isDraining = false;

  constructor(options: SandboxCarrierOptions) {
    this.#options = options;
    this.#lines = new LineBook(options);
  }

  /** Nobody rings in by himself: `ringIn` makes somebody do so. */
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

  /** Calls the party that the last two digits of `to` stand for. @throws {CarrierError} 503 after `drain`. */
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

  /** Lets a party ring. What it does is up to the scenario, not to its number. */
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

  hasTrunkFor(): boolean {
    return true;
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
      voice: this.#lines.prepare(script),
      pickUp: () =>
        new SandboxLeg({
          script,
          partyNumber,
          pcmOf: (text) => this.#lines.pcmOf(text),
          onOver: over,
        }),
      clock: this.#options.clock,
    });
    this.#live.add(ringing);
    ringing.answered.catch(over);
    return ringing;
  }
}
