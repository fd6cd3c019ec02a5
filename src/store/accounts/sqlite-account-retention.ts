/** Erases in SQLite what accounts keep for a time only. */
import { sql } from 'kysely';
import type { Account } from '../../domain/account/account.ts';
import {
  type AccountRetention,
  limitsOf,
  type RetentionLimits,
} from '../../domain/account/account-retention.ts';
import {
  ERASED_CALLS_MAX,
  type ErasureCounts,
  type ErasureOrder,
} from '../../domain/account/erasure.ts';
import type { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Statement, type Take, takeAll } from '../sqlite/statement.ts';
import { CallErasure } from './call-erasure.ts';
import { ERASURE_COLUMNS, type ErasureRow, erasureRowOf } from './erasure-rows.ts';

interface Expiry {
  readonly accountId: string;
  /** Exclusive, Unix milliseconds of the call's start. */
  readonly before: number;
  readonly limit: number;
}

interface Expired {
  readonly id: string;
  readonly has_recording: number;
}

/** One index each; of the calls, one for each environment. */
function prepareExpired(database: Database) {
  return {
    calls: database.prepare((take: Take<Expiry>) =>
      expired(take, sql`environment in ('live', 'test')`),
    ),
    recordings: database.prepare((take: Take<Expiry>) =>
      expired(take, sql`recording_file is not null`),
    ),
    words: database.prepare((take: Take<Expiry>) =>
      expired(
        take,
        sql`words_erased = 0 and not exists (select 1 from analysis_jobs where call_id = calls.id)`,
      ),
    ),
  };
}

function expired(take: Take<Expiry>, condition: ReturnType<typeof sql>) {
  return build
    .selectFrom('calls')
    .select(['id', sql<number>`recording_file is not null`.as('has_recording')])
    .where('account_id', '=', take('accountId'))
    .where(sql<boolean>`${condition}`)
    .where('sort_at', '<', take('before'))
    .where('ended_at', 'is not', sql<null>`null`)
    .limit(take('limit'));
}

function prepareLog(database: Database) {
  return database.prepare((take: Take<ErasureRow>) =>
    build
      .insertInto('erasures')
      .values(takeAll(take, ERASURE_COLUMNS))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({
          calls: sql<number>`erasures.calls + excluded.calls`,
          recordings: sql<number>`erasures.recordings + excluded.recordings`,
          transcripts: sql<number>`erasures.transcripts + excluded.transcripts`,
          finished_at: sql<number>`excluded.finished_at`,
        }),
      ),
  );
}

export class SqliteAccountRetention implements AccountRetention {
  readonly #database: Database;
  readonly #bell: Notifier;
  readonly #expired: ReturnType<typeof prepareExpired>;
  readonly #log: ReturnType<typeof prepareLog>;
  readonly #erasure: CallErasure;

  /** @param parts.bell rings when something was erased. */
  constructor(database: Database, parts: { readonly bell: Notifier }) {
    this.#database = database;
    this.#bell = parts.bell;
    this.#expired = prepareExpired(database);
    this.#log = prepareLog(database);
    this.#erasure = new CallErasure(database);
  }

  apply({ id: accountId, retention }: Account, order: ErasureOrder): number {
    const limits = limitsOf(retention, order.askedAt);
    if (limits === undefined) return 0;
    const found = this.#find(accountId, limits, ERASED_CALLS_MAX);
    const touched = found.calls.length + found.recordings.length + found.words.length;
    if (touched === 0) return 0;
    this.#database.write(() => {
      for (const { id } of found.calls) this.#erasure.erase(id, { tombstone: null });
      for (const { id } of found.recordings) this.#erasure.eraseRecording(id);
      for (const { id } of found.words) this.#erasure.eraseWords(id);
      this.#log.run(erasureRowOf(order, { counts: countsOf(found), finishedAt: order.askedAt }));
    });
    this.#bell.ring();
    return touched;
  }

  count({ id, retention }: Account, now: Date): ErasureCounts {
    const limits = limitsOf(retention, now);
    const everything = Number.MAX_SAFE_INTEGER;
    return countsOf(limits === undefined ? NOTHING : this.#find(id, limits, everything));
  }

  /** `limit` in all. Calls that go whole are in the list of calls alone. */
  #find(accountId: string, limits: RetentionLimits, limit: number): Found {
    const { callsBefore, recordingsBefore, transcriptsBefore } = limits;
    let left = limit;
    const gone = new Set<string>();
    const read = (statement: Statement<Expiry, Expired>, before: Date | null) => {
      if (before === null || left === 0) return [];
      const values = { accountId, before: before.getTime(), limit: left + gone.size };
      const rows = statement.all(values).filter(({ id }) => !gone.has(id));
      left -= Math.min(left, rows.length);
      return rows;
    };
    return this.#database.read(() => {
      const calls = read(this.#expired.calls, callsBefore).slice(0, limit);
      for (const { id } of calls) gone.add(id);
      const recordings = read(this.#expired.recordings, recordingsBefore);
      const words = read(this.#expired.words, transcriptsBefore);
      return { calls, recordings, words };
    });
  }
}

interface Found {
  readonly calls: readonly Expired[];
  readonly recordings: readonly Expired[];
  readonly words: readonly Expired[];
}

const NOTHING: Found = { calls: [], recordings: [], words: [] };

function countsOf({ calls, recordings, words }: Found): ErasureCounts {
  const ofCalls = calls.filter(({ has_recording }) => has_recording === 1).length;
  return {
    calls: calls.length,
    recordings: recordings.length + ofCalls,
    transcripts: words.length,
  };
}
