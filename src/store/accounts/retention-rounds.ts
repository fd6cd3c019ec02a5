/** Rounds that delete: calls by their account's retention, the server's own rows by age, and what erasures left to do. */

import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Account, PRUNED_ROWS_MAX } from '../../domain/account/account.ts';
import type { AccountStore } from '../../domain/account/account-rules.ts';
import {
  ERASED_CALLS_MAX,
  type Eraser,
  type ErasureOrder,
  type ErasureStore,
  limitsOf,
} from '../../domain/account/erasure.ts';
import { isRecordingPath } from '../../domain/call/recording-link.ts';
import type { NewId } from '../../domain/ids.ts';
import { StoreError } from '../../domain/service-error.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { Repeater } from '../../lib/repeater.ts';
import type { SqliteLeftovers } from './sqlite-erasure-store.ts';
import type { SqliteAccountRetention, SqliteRetention } from './sqlite-retention.ts';

const SWEEP_MS = 600_000;

interface Parts {
  readonly accounts: Pick<AccountStore, 'list'>;
  readonly retention: Pick<SqliteAccountRetention, 'apply'>;
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

/** Pause between the batches of one round, so that conversations have the thread for most of the time. */
const BREATH_MS = 50;

/** Prunes at the start and every ten minutes, for as long as batches are full. */
export class RetentionRounds {
  readonly #parts: ConstructorParameters<typeof RetentionRounds>[0];
  readonly #rounds: Repeater;

  constructor(parts: {
    readonly retention: Pick<SqliteRetention, 'prune'>;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#parts = parts;
    this.#rounds = new Repeater({ clock: parts.clock, run: () => this.#round() });
  }

  start(): void {
    this.#rounds.askIn(BREATH_MS);
  }

  /** Resolves at the end of the round in progress. Safe to call twice. */
  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Prunes once. After a failure the next round tries again: rows that are too old do no harm. */
  async #round(): Promise<number> {
    const { retention, clock, log } = this.#parts;
    try {
      const rows = await retention.prune(clock.now());
      return rows === PRUNED_ROWS_MAX ? BREATH_MS : ROUND_MS;
    } catch (error) {
      const level = error instanceof StoreError ? 'warn' : 'error';
      log[level]({ err: error }, 'retention: old rows not deleted, will try again');
      return ROUND_MS;
    }
  }
}

/** The part of `SqliteLeftovers` that the rounds use. */
type Leftovers = Pick<SqliteLeftovers, keyof SqliteLeftovers>;

/** Makes the rounds that finish erasures; nothing is started. */
export function openEraser(
  stores: {
    readonly accounts: Parts['accounts'];
    readonly accountRetention: Parts['retention'];
    readonly erasures: ErasureRoundParts['erasures'];
    readonly leftovers: Leftovers;
  },
  parts: Omit<ErasureRoundParts, 'erasures' | 'sweep' | 'leftovers'> & Pick<Parts, 'newId'>,
): ErasureRounds {
  const { accounts, accountRetention: retention, erasures, leftovers } = stores;
  const sweep = new RetentionSweep({ ...parts, accounts, retention });
  return new ErasureRounds({ ...parts, erasures, sweep, leftovers });
}

/** Interval of the rounds, which also find noted calls that have ended meanwhile. */
const LOOK_MS = 5000;

/** Files that are deleted before their folder is brought to the disk. */
const FILES_MAX = 100;

/** Rewriting a larger file blocks the thread for more than half a second: `admin compact` does it. */
const COMPACTED_BYTES_MAX = 128 * 1024 * 1024;

/** Interval between two rewrites of the file: a day where only retention deleted rows, to spare the disk. */
const COMPACTED_EVERY_MS = { asked: 60_000, expired: DAY_MS } as const;

interface ErasureRoundParts {
  readonly erasures: Pick<ErasureStore, 'notifier' | 'eraseNoted'>;
  readonly sweep: Pick<RetentionSweep, 'step'>;
  readonly leftovers: Leftovers;
  /** The folder that recordings are relative to. */
  readonly dataFolder: string;
  /** Whether no call is in progress, so that half a second on the thread disturbs no call. */
  readonly isQuiet: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Erases noted calls and calls past their account's retention, deletes recordings, empties SQLite's log, and compacts the
 * database file while no call is in progress. Erasures that an earlier process left unfinished come first.
 */
export class ErasureRounds implements Eraser {
  readonly #parts: ErasureRoundParts;
  readonly #looks: Repeater;
  #unlisten: () => void = () => undefined;
  /** Runs one after the other: a request finishes its own erasure, a round the remaining ones. */
  #finishing: Promise<void> = Promise.resolve();
  /** Whether more erasures were requested since the current pass began. */
  #isRung = false;
  /** True at the start: the previous process may have left rows in the log. */
  #isLogDue = true;
  #compactedAtMs = Number.NEGATIVE_INFINITY;
  #isTooLarge = false;

  constructor(parts: ErasureRoundParts) {
    this.#parts = parts;
    this.#looks = new Repeater({ clock: parts.clock, run: () => this.#look() });
  }

  start(): void {
    this.#unlisten = this.#parts.erasures.notifier.listen(() => {
      this.#isLogDue = true;
      this.#isRung = true;
      this.#looks.askIn(BREATH_MS);
    });
    this.#looks.askIn(BREATH_MS);
  }

  /** Resolves when no work is in progress. Unfinished erasures stay recorded for the next start. Safe to call twice. */
  async stop(): Promise<void> {
    this.#unlisten();
    await this.#looks.stop();
    await this.#finishing;
  }

  finish(): Promise<void> {
    this.#isLogDue = true;
    this.#finishing = this.#finishing.then(() => this.#attempt(() => this.#finishFiles()));
    return this.#finishing;
  }

  async #look(): Promise<number> {
    const { clock, erasures, sweep } = this.#parts;
    let isFull = false;
    this.#isRung = false;
    await this.#attempt(async () => {
      isFull =
        (await erasures.eraseNoted(clock.now())) === ERASED_CALLS_MAX || (await sweep.step());
    });
    this.#finishing = this.#finishing.then(() =>
      this.#attempt(async () => {
        await this.#finishFiles();
        if (!isFull) await this.#compact();
      }),
    );
    await this.#finishing;
    return isFull || this.#isRung ? BREATH_MS : LOOK_MS;
  }

  async #finishFiles(): Promise<void> {
    const { leftovers } = this.#parts;
    for (;;) {
      const files = await leftovers.files(FILES_MAX);
      const gone = await this.#deleteFiles(files);
      for (const file of gone) await leftovers.fileGone(file);
      // Files that cannot be deleted come first again in the next round.
      if (files.length < FILES_MAX || gone.length === 0) break;
    }
    if (this.#isLogDue) this.#isLogDue = !(await leftovers.emptyLog());
  }

  /** @returns files that need no further attempt. */
  async #deleteFiles(files: readonly string[]): Promise<readonly string[]> {
    const { dataFolder, log } = this.#parts;
    const gone: string[] = [];
    for (const file of files) {
      try {
        if (isRecordingPath(file)) await rm(join(dataFolder, file), { force: true });
        else log.error({ file }, 'erasure: left alone, it lies outside the folder of recordings');
        gone.push(file);
      } catch (error) {
        log.error({ file, err: error }, 'erasure: recording not deleted, will try again');
      }
    }
    const folders = new Set(
      gone.filter(isRecordingPath).map((file) => dirname(join(dataFolder, file))),
    );
    for (const folder of folders) await syncFolder(folder);
    return gone;
  }

  async #compact(): Promise<void> {
    const { clock, isQuiet, leftovers, log } = this.#parts;
    const why = await leftovers.inPages();
    if (why === undefined || !isQuiet()) return;
    if (clock.nowMs() - this.#compactedAtMs < COMPACTED_EVERY_MS[why]) return;
    const sizeBytes = await leftovers.sizeBytes();
    if (sizeBytes > COMPACTED_BYTES_MAX) {
      const how =
        'erasure: copies of erased rows may be in unused space of the database file, which is too large to be rewritten while the server runs; stop the server and run "npm run admin -- compact"';
      if (!this.#isTooLarge) log.warn({ sizeBytes }, how);
      this.#isTooLarge = true;
      return;
    }
    this.#compactedAtMs = clock.nowMs();
    await leftovers.compact();
    const tookMs = Math.round(clock.nowMs() - this.#compactedAtMs);
    log.info({ sizeBytes, tookMs }, 'erasure: database file rewritten');
    this.#isLogDue = !(await leftovers.emptyLog());
  }

  /** Runs `work`; a failure is logged, and the next look tries again. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const level = error instanceof StoreError ? 'warn' : 'error';
      this.#parts.log[level]({ err: error }, 'erasure: not finished, will try again');
    }
  }
}

/** Syncs the folder, which makes deletions durable; a missing folder needs none. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  await folder?.sync();
  await folder?.close();
}
