/** What the server keeps for itself in SQLite: request counts and its own secrets. */
import { sql } from 'kysely';
import type { SecretStore } from '../../domain/account/bootstrap.ts';
import type { RateStore, RateWindow } from '../../domain/account/rate-limit.ts';
import type { Database } from './database.ts';
import { build, type RateCountRow, type SecretRow } from './schema.ts';
import { type Take, takeAll } from './statement.ts';

/** So many requests are counted with one write. A process that dies forgets how many of them came. */
const BLOCK_REQUESTS = 20;

/** Subjects whose blocks are known at once; the one known longest makes room for the next. */
const BLOCKS_MAX = 10_000;

/** Requests of a subject that are written as counted: those after `used` are still to come. */
interface Block {
  used: number;
  readonly counted: number;
}

type Written = Pick<RateCountRow, 'subject' | 'window_start' | 'requests'>;

function prepareRates(database: Database) {
  return {
    take: database.prepare((take: Take<Written>) =>
      build
        .insertInto('rate_counts')
        .values(takeAll(take, ['subject', 'window_start', 'requests']))
        .onConflict((conflict) =>
          conflict.column('subject').doUpdateSet({
            requests: sql<number>`case when rate_counts.window_start = excluded.window_start
              then rate_counts.requests else 0 end + excluded.requests`,
            window_start: sql<number>`excluded.window_start`,
          }),
        )
        .returning('requests'),
    ),
    giveBack: database.prepare((take: Take<Written>) =>
      build
        .updateTable('rate_counts')
        .set({ requests: sql<number>`requests - ${take('requests')}` })
        .where('subject', '=', take('subject'))
        .where('window_start', '=', take('window_start')),
    ),
    forget: database.prepare((take: Take<{ window_start: number }>) =>
      build.deleteFrom('rate_counts').where('window_start', '<', take('window_start')),
    ),
  };
}

/** Counts requests in SQLite, many with one write, so that a restart forgives nothing. */
export class SqliteRateStore implements RateStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareRates>;
  /** Those of one window. */
  readonly #blocks = new Map<string, Block>();
  #windowStart: number | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareRates(database);
  }

  count(subject: string, window: RateWindow): number {
    this.#begin(window.startsAt.getTime());
    let block = this.#blocks.get(subject);
    if (block === undefined || block.used === block.counted) block = this.#takeBlock(subject);
    block.used += 1;
    return block.used;
  }

  /** Gives back what was counted and never came. Safe to call twice. @throws {StoreError} when the disk fails. */
  close(): void {
    const blocks = [...this.#blocks];
    this.#blocks.clear();
    if (blocks.length === 0) return;
    this.#database.write(() => {
      for (const [subject, block] of blocks) this.#giveBack(subject, block);
    });
  }

  #begin(windowStart: number): void {
    if (windowStart === this.#windowStart) return;
    this.#database.write(() => this.#statements.forget.run({ window_start: windowStart }));
    this.#blocks.clear();
    this.#windowStart = windowStart;
  }

  #takeBlock(subject: string): Block {
    const window_start = this.#windowStart ?? 0;
    const isFull = this.#blocks.size >= BLOCKS_MAX && !this.#blocks.has(subject);
    const [oldest] = isFull ? this.#blocks : [];
    const counted = this.#database.write(() => {
      if (oldest !== undefined) this.#giveBack(...oldest);
      const taken = { subject, window_start, requests: BLOCK_REQUESTS };
      return this.#statements.take.get(taken)?.requests ?? BLOCK_REQUESTS;
    });
    if (oldest !== undefined) this.#blocks.delete(oldest[0]);
    const block = { used: counted - BLOCK_REQUESTS, counted };
    this.#blocks.set(subject, block);
    return block;
  }

  #giveBack(subject: string, { used, counted }: Block): void {
    if (used === counted) return;
    const window_start = this.#windowStart ?? 0;
    this.#statements.giveBack.run({ subject, window_start, requests: counted - used });
  }
}

function prepareSecrets(database: Database) {
  const columns = ['name', 'value'] as const;
  return {
    insert: database.prepare((take: Take<SecretRow>) =>
      build.insertInto('secrets').values(takeAll(take, columns)),
    ),
    find: database.prepare((take: Take<{ name: string }>) =>
      build.selectFrom('secrets').select(columns).where('name', '=', take('name')),
    ),
    remove: database.prepare((take: Take<{ name: string }>) =>
      build.deleteFrom('secrets').where('name', '=', take('name')),
    ),
  };
}

/** Keeps the server's own secrets in SQLite. */
export class SqliteSecretStore implements SecretStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareSecrets>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareSecrets(database);
  }

  ensure(name: string, make: () => string): string {
    return this.#database.write(() => {
      const kept = this.#statements.find.get({ name });
      if (kept !== undefined) return kept.value;
      const value = make();
      this.#statements.insert.run({ name, value });
      return value;
    });
  }

  find(name: string): string | undefined {
    return this.#statements.find.get({ name })?.value;
  }

  exchange(name: string, known: string | undefined, next: string | undefined): boolean {
    return this.#database.write(() => {
      if (this.find(name) !== known) return false;
      this.#statements.remove.run({ name });
      if (next !== undefined) this.#statements.insert.run({ name, value: next });
      return true;
    });
  }
}
