/** State of the server itself in SQLite: request counts of the rate limit, and its own secrets. */
import { sql } from 'kysely';
import type { SecretStore } from '../../domain/account/bootstrap.ts';
import type { RateStore, RateWindow } from '../../domain/account/rate-limit.ts';
import type { Database } from './database.ts';
import { build } from './schema.ts';

/** Requests that one write counts in advance. A process that dies forgets how many of them came. */
const BLOCK_REQUESTS = 20;

/** Subjects with a block in memory; the oldest makes room for the next. */
const BLOCKS_MAX = 10_000;

/** Requests of a subject that are written as counted: those after `used` are still to come. */
interface Block {
  used: number;
  readonly counted: number;
}

/** Counts requests in SQLite, many with one write, so that a restart forgives nothing. */
export class SqliteRateStore implements RateStore {
  readonly #database: Database;
  /** Those of one window. */
  readonly #blocks = new Map<string, Block>();
  #windowStart: number | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  count(subject: string, window: RateWindow): number {
    this.#begin(window.startsAt.getTime());
    let block = this.#blocks.get(subject);
    if (block === undefined || block.used === block.counted) block = this.#takeBlock(subject);
    block.used += 1;
    return block.used;
  }

  /** Gives back what was counted in advance. Safe to call twice. @throws {StoreError} when the disk fails. */
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
    this.#database.run(build.deleteFrom('rate_counts').where('window_start', '<', windowStart));
    this.#blocks.clear();
    this.#windowStart = windowStart;
  }

  #takeBlock(subject: string): Block {
    const isFull = this.#blocks.size >= BLOCKS_MAX && !this.#blocks.has(subject);
    const [oldest] = isFull ? this.#blocks : [];
    const counted = this.#database.write(() => {
      if (oldest !== undefined) this.#giveBack(...oldest);
      return this.#countAhead(subject);
    });
    if (oldest !== undefined) this.#blocks.delete(oldest[0]);
    const block = { used: counted - BLOCK_REQUESTS, counted };
    this.#blocks.set(subject, block);
    return block;
  }

  #countAhead(subject: string): number {
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
    return this.#database.get(upsert)?.requests ?? BLOCK_REQUESTS;
  }

  #giveBack(subject: string, { used, counted }: Block): void {
    if (used === counted) return;
    this.#database.run(
      build
        .updateTable('rate_counts')
        .set({ requests: sql<number>`requests - ${counted - used}` })
        .where('subject', '=', subject)
        .where('window_start', '=', this.#windowStart ?? 0),
    );
  }
}

/** Keeps the server's own secrets in SQLite. */
export class SqliteSecretStore implements SecretStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  ensure(name: string, make: () => string): string {
    return this.#database.write(() => {
      const kept = this.find(name);
      if (kept !== undefined) return kept;
      const value = make();
      this.#insert(name, value);
      return value;
    });
  }

  find(name: string): string | undefined {
    const query = build.selectFrom('secrets').select('value').where('name', '=', name);
    return this.#database.get(query)?.value;
  }

  exchange(name: string, known: string | undefined, next: string | undefined): boolean {
    return this.#database.write(() => {
      if (this.find(name) !== known) return false;
      this.#database.run(build.deleteFrom('secrets').where('name', '=', name));
      if (next !== undefined) this.#insert(name, next);
      return true;
    });
  }

  #insert(name: string, value: string): void {
    this.#database.run(build.insertInto('secrets').values({ name, value }));
  }
}
