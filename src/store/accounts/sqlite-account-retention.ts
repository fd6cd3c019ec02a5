/** Erases records in SQLite that have outlived the retention of their account. */
import { type RawBuilder, sql } from 'kysely';
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
import { CallErasure } from './call-erasure.ts';
import { erasureRowOf } from './sqlite-erasure-store.ts';

interface Expired {
  readonly id: string;
  readonly has_recording: number;
}

/** Conditions as their indexes have them; `calls_by_time` begins with account and environment. */
const EXPIRES: Readonly<Record<'calls' | 'recordings' | 'words', RawBuilder<boolean>>> = {
  calls: sql`environment in ('live', 'test')`,
  recordings: sql`recording_file is not null`,
  words: sql`words_erased = 0 and not exists (select 1 from analysis_jobs where call_id = calls.id)`,
};

/** Applies retention in SQLite. */
export class SqliteAccountRetention implements AccountRetention {
  readonly #database: Database;
  readonly #notifier: Notifier;
  readonly #erasure: CallErasure;

  /** @param parts.notifier Notifies when something was erased. */
  constructor(database: Database, parts: { readonly notifier: Notifier }) {
    this.#database = database;
    this.#notifier = parts.notifier;
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
      this.#log(order, countsOf(found));
    });
    this.#notifier.notify();
    return touched;
  }

  count({ id, retention }: Account, now: Date): ErasureCounts {
    const limits = limitsOf(retention, now);
    const everything = Number.MAX_SAFE_INTEGER;
    return countsOf(limits === undefined ? NOTHING : this.#find(id, limits, everything));
  }

  /** Adds to the record that the same order has already, if any. */
  #log(order: ErasureOrder, counts: ErasureCounts): void {
    this.#database.run(
      build
        .insertInto('erasures')
        .values(erasureRowOf(order, { counts, finishedAt: order.askedAt }))
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

  /** `limit` in all. A call that is erased whole is in the list of calls alone. */
  #find(accountId: string, limits: RetentionLimits, limit: number): Found {
    const { callsBefore, recordingsBefore, transcriptsBefore } = limits;
    let left = limit;
    const gone = new Set<string>();
    const read = (kind: keyof typeof EXPIRES, before: Date | null) => {
      if (before === null || left === 0) return [];
      const span = { before: before.getTime(), limit: left + gone.size };
      const rows = this.#database
        .all(expired(kind, { accountId, ...span }))
        .filter(({ id }) => !gone.has(id));
      left -= Math.min(left, rows.length);
      return rows;
    };
    const calls = read('calls', callsBefore);
    for (const { id } of calls) gone.add(id);
    const recordings = read('recordings', recordingsBefore);
    return { calls, recordings, words: read('words', transcriptsBefore) };
  }
}

function expired(
  kind: keyof typeof EXPIRES,
  span: { readonly accountId: string; readonly before: number; readonly limit: number },
) {
  return build
    .selectFrom('calls')
    .select(['id', sql<number>`recording_file is not null`.as('has_recording')])
    .where('account_id', '=', span.accountId)
    .where(EXPIRES[kind])
    .where('sort_at', '<', span.before)
    .where('ended_at', 'is not', null)
    .limit(span.limit);
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
