/** Composition root: deletes what is kept for a time only, a little at a time. */
import { PRUNED_ROWS_MAX, type Retention } from '../domain/account/retention.ts';
import { StoreError } from '../domain/store-error.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Store } from '../store/store.ts';

const ROUND_MS = 600_000;

/** Between the batches of one round, so that conversations have the thread for most of the time. */
const BREATH_MS = 50;

/** Begins to delete what is too old. @returns stops it; safe to call twice. */
export function startRetention({ store, log }: { readonly store: Store; readonly log: Logger }) {
  const rounds = new RetentionRounds({ retention: store.retention, clock: systemClock, log });
  rounds.start();
  return () => rounds.stop();
}

/** Prunes at the start and every ten minutes, for as long as batches are full. */
export class RetentionRounds {
  readonly #retention: Retention;
  readonly #clock: Clock;
  readonly #log: Logger;
  #cancel: () => void = () => undefined;

  constructor(parts: {
    readonly retention: Retention;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#retention = parts.retention;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  start(): void {
    this.stop();
    this.#cancel = this.#clock.after(BREATH_MS, () => this.#round());
  }

  /** Safe to call twice. */
  stop(): void {
    this.#cancel();
  }

  #round(): void {
    const isFull = this.#prune() === PRUNED_ROWS_MAX;
    this.#cancel = this.#clock.after(isFull ? BREATH_MS : ROUND_MS, () => this.#round());
  }

  /** A failure stays for the next round, whosever it is: rows that are too old harm nobody. */
  #prune(): number {
    try {
      return this.#retention.prune(this.#clock.now());
    } catch (error) {
      const level = error instanceof StoreError ? 'warn' : 'error';
      this.#log[level]({ err: error }, 'retention: old rows not deleted, will try again');
      return 0;
    }
  }
}
