/** Readiness: whether the server can take calls, and with which engines. */
import {
  type EngineState,
  type ReadinessCheck,
  type ReadinessReport,
  readinessStatus,
} from '../../domain/call/engine-state.ts';
import { cached, systemClock } from '../../lib/clock.ts';
import type { DiskSpace } from '../../lib/disk-space.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { LanguageModelReport } from '../../llm/fallback-model.ts';
import type { CarrierReport } from '../../telephony/carrier.ts';

const MODEL_CHECK_MS = 30_000;

/** How long a check of the database counts: it writes a row, and `/readyz` needs no key. */
const DATABASE_CHECK_MS = 1000;

/** Loading a large model from a slow disk takes a minute and more. */
const WARM_MS_MAX = 300_000;

/** The parts that can fail while the server runs. */
export interface HealthParts {
  readonly model: {
    /** @throws {Error} when no language model answers. */
    check(): Promise<void>;
    /** Why no language model answers now; undefined while one does. */
    readonly problem: string | undefined;
    report(): LanguageModelReport;
  };
  /** Loads the language model into memory before the first call. */
  readonly warmModel: (signal: AbortSignal) => Promise<void>;
  readonly engines: (isModelFailing: boolean) => readonly EngineState[];
  readonly carriers: () => readonly CarrierReport[];
  /** @throws {Error} when the database cannot be written. */
  readonly probeDatabase: () => Promise<void>;
  readonly disk: Pick<DiskSpace, 'isShort' | 'state'>;
  /** Checks of other parts, in the order of the report. */
  readonly checks: () => readonly ReadinessCheck[];
  readonly log: Logger;
}

/** Watches the parts that can fail, and reports them to `/readyz`. */
export class Health {
  readonly #parts: HealthParts;
  readonly #checkDatabase: () => Promise<ReadinessCheck>;
  #timer: NodeJS.Timeout | undefined;
  readonly #warming = new AbortController();

  constructor(parts: HealthParts) {
    this.#parts = parts;
    this.#checkDatabase = cached(() => checkOf('database', parts.probeDatabase), {
      keptMs: DATABASE_CHECK_MS,
      clock: systemClock,
    });
  }

  /** Checks the language models now and every half minute, and begins to load the one that answers into memory. */
  async start(): Promise<void> {
    await this.#checkModel();
    this.#timer = setInterval(() => void this.#checkModel(), MODEL_CHECK_MS);
    const signals = [this.#warming.signal, AbortSignal.timeout(WARM_MS_MAX)];
    this.#parts.warmModel(AbortSignal.any(signals)).catch((error: unknown) => {
      this.#parts.log.warn(
        { err: error },
        'language model could not be loaded ahead of the first call',
      );
    });
  }

  /** Safe to call twice. */
  stop(): void {
    clearInterval(this.#timer);
    this.#warming.abort();
  }

  /** Report for `/readyz`; quick enough for every request. */
  async report(isDraining: boolean): Promise<ReadinessReport> {
    const { disk, engines, checks: others } = this.#parts;
    const carriers = this.#parts.carriers();
    const { problem } = this.#parts.model;
    const checks = [
      await this.#checkDatabase(),
      { name: 'disk space', isOk: !disk.isShort, state: disk.state },
      { name: 'language model', isOk: problem === undefined, state: problem ?? this.#modelState() },
      ...others(),
    ];
    const status = readinessStatus({ isDraining, carriers, checks });
    return { status, engines: engines(problem !== undefined), carriers, checks };
  }

  /** The state while a model answers. */
  #modelState(): string {
    const { engine, standIn, reason } = this.#parts.model.report();
    if (standIn === undefined) return `${engine} answers`;
    return `${engine} ${standIn === 'rule_book' ? 'answers by fixed rules' : 'stands in'}: ${reason}`;
  }

  async #checkModel(): Promise<void> {
    // The model keeps the problem: calls and probes tell of it, and of its end, between two checks.
    await this.#parts.model.check().catch(() => undefined);
  }
}

async function checkOf(name: string, probe: () => Promise<void>): Promise<ReadinessCheck> {
  try {
    await probe();
    return { name, isOk: true, state: 'can be written' };
  } catch (error) {
    return { name, isOk: false, state: messageOf(error) };
  }
}
