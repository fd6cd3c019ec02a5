/** Retention rounds: delete calls by their account's retention, and the server's own rows by age. */
import { type Account, PRUNED_ROWS_MAX, type Retention } from '../../domain/account/account.ts';
import type { AccountStore } from '../../domain/account/account-rules.ts';
import {
  type AccountRetention,
  ERASED_CALLS_MAX,
  type ErasureOrder,
  limitsOf,
} from '../../domain/account/erasure.ts';
import type { NewId } from '../../domain/ids.ts';
import { StoreError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { Repeater } from '../../lib/repeater.ts';

const SWEEP_MS = 600_000;

interface Parts {
  readonly accounts: Pick<AccountStore, 'list'>;
  readonly retention: Pick<AccountRetention, 'apply'>;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The account that a round is working on, with its entry in the audit log. */
interface Swept {
  readonly account: Account;
  readonly order: ErasureOrder;
  calls: number;
}

/** Goes through the accounts at the start and every ten minutes, in steps of 20 calls. */
export class RetentionSweep {
  readonly #parts: Parts;
  #waiting: Swept[] = [];
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @returns whether there is more to do now. */
  async step(): Promise<boolean> {
    const { clock, retention, log } = this.#parts;
    if (this.#waiting.length === 0 && clock.nowMs() >= this.#nextAtMs) await this.#begin();
    const [swept] = this.#waiting;
    if (swept === undefined) return false;
    const { account, order } = swept;
    const touched = await retention.apply(account, order);
    swept.calls += touched;
    if (touched === ERASED_CALLS_MAX) return true;
    this.#waiting.shift();
    if (swept.calls > 0) {
      const facts = { erasureId: order.id, accountId: account.id, calls: swept.calls };
      log.info(facts, 'retention: what the account keeps no longer is erased');
    }
    return this.#waiting.length > 0;
  }

  async #begin(): Promise<void> {
    const { accounts, clock } = this.#parts;
    this.#nextAtMs = clock.nowMs() + SWEEP_MS;
    const now = clock.now();
    this.#waiting = (await accounts.list())
      .filter(({ retention }) => limitsOf(retention, now) !== undefined)
      .map((account) => ({ account, order: this.#orderOf(account, now), calls: 0 }));
  }

  #orderOf({ id: accountId }: Account, askedAt: Date): ErasureOrder {
    const id = this.#parts.newId('ers');
    const [kind, askedBy] = ['retention', 'retention'] as const;
    return { id, accountId, environment: null, kind, askedBy, askedAt };
  }
}

const ROUND_MS = 600_000;

/** Between the batches of one round, so that conversations have the thread for most of the time. */
const BREATH_MS = 50;

/** Prunes at the start and every ten minutes, for as long as batches are full. */
export class RetentionRounds {
  readonly #retention: Retention;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #rounds: Repeater;

  constructor(parts: {
    readonly retention: Retention;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#retention = parts.retention;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#rounds = new Repeater({ clock: parts.clock, run: () => this.#round() });
  }

  start(): void {
    this.#rounds.askIn(BREATH_MS);
  }

  /** Resolves at the end of the round in progress. Safe to call twice. */
  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** After a failure the next round tries again: rows that are too old do no harm. */
  async #round(): Promise<number> {
    try {
      const rows = await this.#retention.prune(this.#clock.now());
      return rows === PRUNED_ROWS_MAX ? BREATH_MS : ROUND_MS;
    } catch (error) {
      const level = error instanceof StoreError ? 'warn' : 'error';
      this.#log[level]({ err: error }, 'retention: old rows not deleted, will try again');
      return ROUND_MS;
    }
  }
}
