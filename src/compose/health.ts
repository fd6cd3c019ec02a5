/** Composition root: whether the server can take calls, and with what. */
import {
  type EngineState,
  type ReadinessCheck,
  type ReadinessReport,
  readinessStatus,
} from '../domain/call/engine-state.ts';
import { cached, systemClock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { Logger } from '../lib/logger.ts';
import type { Store } from '../store/store.ts';
import type { LiveAdmission } from './admission.ts';
import type { BrowserCalls } from './browser-calls.ts';
import { engineStates, type SpeechParts } from './speech.ts';
import type { Telephony } from './telephony.ts';

const MODEL_CHECK_MS = 30_000;

/** The check writes a row, and anybody may ask. */
const DATABASE_CHECK_MS = 1000;

/** Loading a large model from a slow disk takes a minute and more. */
const WARM_MS_MAX = 300_000;

/** Watches what can fail while the server runs, and reports it to `/readyz`. */
export class Health {
  readonly #speech: SpeechParts;
  readonly #telephony: Telephony;
  readonly #admission: LiveAdmission;
  readonly #browser: Pick<BrowserCalls, 'check'>;
  readonly #disk: DiskSpace;
  readonly #log: Logger;
  readonly #checkDatabase: () => ReadinessCheck;
  #modelProblem: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #warming = new AbortController();

  constructor(parts: {
    readonly speech: SpeechParts;
    readonly telephony: Telephony;
    readonly admission: LiveAdmission;
    readonly browser: Pick<BrowserCalls, 'check'>;
    readonly disk: DiskSpace;
    readonly store: Store;
    readonly log: Logger;
  }) {
    this.#speech = parts.speech;
    this.#telephony = parts.telephony;
    this.#admission = parts.admission;
    this.#browser = parts.browser;
    this.#disk = parts.disk;
    this.#log = parts.log;
    this.#checkDatabase = cached(() => checkOf('database', () => parts.store.probe()), {
      keptMs: DATABASE_CHECK_MS,
      clock: systemClock,
    });
  }

  /** Asks the language models now and every half minute, and has the one that answers loaded into memory. */
  async start(): Promise<void> {
    await this.#checkModel();
    this.#timer = setInterval(() => void this.#checkModel(), MODEL_CHECK_MS);
    const signals = [this.#warming.signal, AbortSignal.timeout(WARM_MS_MAX)];
    this.#speech.warmModel(AbortSignal.any(signals)).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'language model could not be loaded ahead of the first call');
    });
  }

  /** Safe to call twice. */
  stop(): void {
    clearInterval(this.#timer);
    this.#warming.abort();
  }

  /** Must be quick: it is asked at every `/readyz`. */
  report(isDraining: boolean): ReadinessReport {
    const carriers = this.#telephony.reports();
    const problem = this.#modelProblem;
    const checks = [
      this.#checkDatabase(),
      { name: 'disk space', isOk: !this.#disk.isShort, state: this.#disk.state },
      { name: 'language model', isOk: problem === undefined, state: problem ?? this.#modelState() },
      this.#admission.check(),
      this.#browser.check(),
      this.#telephony.mediaCheck(),
      ...[this.#telephony.addressCheck()].flatMap((check) => check ?? []),
    ];
    const status = readinessStatus({ isDraining, carriers, checks });
    return { status, engines: this.#engines(), carriers, checks };
  }

  #engines(): readonly EngineState[] {
    return engineStates(this.#speech, this.#modelProblem !== undefined);
  }

  /** While some model answers. */
  #modelState(): string {
    const { engine, standIn, reason } = this.#speech.model.report();
    if (standIn === undefined) return `${engine} answers`;
    return `${engine} ${standIn === 'rule_book' ? 'answers by fixed rules' : 'stands in'}: ${reason}`;
  }

  async #checkModel(): Promise<void> {
    try {
      await this.#speech.model.check();
      this.#modelProblem = undefined;
    } catch (error) {
      this.#modelProblem = error instanceof Error ? error.message : String(error);
    }
  }
}

function checkOf(name: string, probe: () => void): ReadinessCheck {
  try {
    probe();
    return { name, isOk: true, state: 'can be written' };
  } catch (error) {
    return { name, isOk: false, state: error instanceof Error ? error.message : String(error) };
  }
}
