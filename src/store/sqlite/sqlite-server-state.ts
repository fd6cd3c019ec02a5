/** State of the server itself in SQLite: request counts of the rate limit, idempotency keys, and its own secrets. */
import { type ExpressionBuilder, sql } from 'kysely';
import type { SecretStore } from '../../domain/account/bootstrap.ts';
import {
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyScope,
  type IdempotencyStore,
  type IdempotentRequest,
  type KeptAnswer,
  type RateStore,
  type RateWindow,
} from '../../domain/account/rate-limit.ts';
import { conflict, type ServiceError, unprocessable } from '../../domain/service-error.ts';
import { type Queries, SqliteStore } from '../queries.ts';
import { build, type Tables } from './schema.ts';

/** Requests that one write counts in advance. A process that dies forgets how many of them came. */
const BLOCK_REQUESTS = 20;

/** Subjects with a block in memory; beyond, all blocks are given back. */
const BLOCKS_MAX = 10_000;

/** Requests of a subject that are written as counted: those after `used` are still to come. */
const noop = () => undefined;

interface Block {
  used: number;
  readonly counted: number;
}

/** Counts requests in SQLite, many with one write; counts survive a restart. */
export class SqliteRateStore implements RateStore {
  readonly #database: Queries;
  /** Blocks of counted requests of one window, by subject. */
  readonly #blocks = new Map<string, Block>();
  #windowStart: number | undefined;
  /** Ends with the newest count: one follows the other, because a block is taken once. */
  #counting: Promise<void> = Promise.resolve();

  constructor(database: Queries) {
    this.#database = database;
  }

  count(subject: string, window: RateWindow): Promise<number> {
    const counted = this.#counting.then(() => this.#countNext(subject, window));
    this.#counting = counted.then(noop, noop);
    return counted;
  }

  async #countNext(subject: string, window: RateWindow): Promise<number> {
    await this.#begin(window.startsAt.getTime());
    let block = this.#blocks.get(subject);
    if (block === undefined || block.used === block.counted) block = await this.#takeBlock(subject);
    block.used += 1;
    return block.used;
  }

  /** Gives back unused counts that were taken in advance. Safe to call twice. @throws {StoreError} when the disk fails. */
  async close(): Promise<void> {
    const blocks = [...this.#blocks];
    this.#blocks.clear();
    if (blocks.length === 0) return;
    await this.#database.transaction(async (transaction) => {
      for (const [subject, block] of blocks) await this.#giveBack(transaction, subject, block);
    });
  }

  async #begin(windowStart: number): Promise<void> {
    if (windowStart === this.#windowStart) return;
    await this.#database.run(
      build.deleteFrom('rate_counts').where('window_start', '<', windowStart),
    );
    this.#blocks.clear();
    this.#windowStart = windowStart;
  }

  async #takeBlock(subject: string): Promise<Block> {
    if (this.#blocks.size >= BLOCKS_MAX) await this.close();
    const counted = await this.#countAhead(subject);
    const block = { used: counted - BLOCK_REQUESTS, counted };
    this.#blocks.set(subject, block);
    return block;
  }

  async #countAhead(subject: string): Promise<number> {
    const row = { subject, window_start: this.#windowStart ?? 0, requests: BLOCK_REQUESTS };
    const upsert = build
      .insertInto('rate_counts')
      .values(row)
      .onConflict((conflict) =>
        conflict.column('subject').doUpdateSet({
          requests: sql<number>`case when rate_counts.window_start = excluded.window_start
            then rate_counts.requests else 0 end + excluded.requests`,
          window_start: sql<number>`excluded.window_start`,
        }),
      )
      .returning('requests');
    return (await this.#database.get(upsert))?.requests ?? BLOCK_REQUESTS;
  }

  async #giveBack(transaction: Queries, subject: string, { used, counted }: Block): Promise<void> {
    if (used === counted) return;
    await transaction.run(
      build
        .updateTable('rate_counts')
        .set({ requests: sql<number>`requests - ${counted - used}` })
        .where('subject', '=', subject)
        .where('window_start', '=', this.#windowStart ?? 0),
    );
  }
}

/** Keeps the server's own secrets in SQLite. */
export class SqliteSecretStore extends SqliteStore implements SecretStore {
  async ensure(name: string, make: () => string): Promise<string> {
    return this.database.transaction(async (transaction) => {
      const secrets = new SqliteSecretStore(transaction);
      const kept = await secrets.find(name);
      if (kept !== undefined) return kept;
      const value = make();
      await secrets.#insert(name, value);
      return value;
    });
  }

  async find(name: string): Promise<string | undefined> {
    const query = build.selectFrom('secrets').select('value').where('name', '=', name);
    return (await this.database.get(query))?.value;
  }

  async exchange(
    name: string,
    known: string | undefined,
    next: string | undefined,
  ): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const secrets = new SqliteSecretStore(transaction);
      if ((await secrets.find(name)) !== known) return false;
      await transaction.run(build.deleteFrom('secrets').where('name', '=', name));
      if (next !== undefined) await secrets.#insert(name, next);
      return true;
    });
  }

  async #insert(name: string, value: string): Promise<void> {
    await this.database.run(build.insertInto('secrets').values({ name, value }));
  }
}

/** The status column of a request that still runs; no HTTP status. */
const RUNNING = 0;

/** A claim that is older was left by a request whose release failed. */
const RUNNING_MS_MAX = 600_000;

/** Keeps answers in SQLite. */
export class SqliteIdempotencyStore extends SqliteStore implements IdempotencyStore {
  async claim(request: IdempotentRequest): Promise<KeptAnswer | undefined> {
    const { fingerprint, now } = request;
    const nowMs = now.getTime();
    return this.database.transaction(async (transaction) => {
      const row = await transaction.get(
        build
          .selectFrom('idempotency_keys')
          .selectAll()
          .where(isOf(request))
          .where('created_at', '>', nowMs - IDEMPOTENCY_KEPT_MS),
      );
      const isLeft = row?.status === RUNNING && row.created_at <= nowMs - RUNNING_MS_MAX;
      if (row !== undefined && !isLeft) {
        if (row.fingerprint !== fingerprint) throw anotherBody();
        if (row.status === RUNNING) throw stillRunning();
        return { status: row.status, body: row.body };
      }
      const claim = { fingerprint, status: RUNNING, body: null, created_at: nowMs };
      await transaction.run(
        build.replaceInto('idempotency_keys').values({ ...columnsOf(request), ...claim }),
      );
      return undefined;
    });
  }

  async keep(request: IdempotentRequest, answer: KeptAnswer): Promise<void> {
    const kept = build.updateTable('idempotency_keys').set({ ...answer });
    await this.database.run(kept.where(isOf(request)));
  }

  async release(request: IdempotencyScope): Promise<void> {
    const claim = build.deleteFrom('idempotency_keys').where(isOf(request));
    await this.database.run(claim.where('status', '=', RUNNING));
  }

  async releaseAll(): Promise<void> {
    await this.database.run(build.deleteFrom('idempotency_keys').where('status', '=', RUNNING));
  }
}

function columnsOf({ accountId, environment, method, path, key }: IdempotencyScope) {
  return { account_id: accountId, environment, method, path, key };
}

function isOf(request: IdempotencyScope) {
  return ({ and }: ExpressionBuilder<Tables, 'idempotency_keys'>) => and(columnsOf(request));
}

function anotherBody(): ServiceError {
  return unprocessable(
    'Cannot repeat the request: its X-Idempotency-Key was used with another body',
  );
}

function stillRunning(): ServiceError {
  return conflict(
    'Cannot repeat the request yet: the first one with its X-Idempotency-Key is still running',
  );
}
