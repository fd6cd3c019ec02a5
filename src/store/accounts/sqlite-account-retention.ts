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
import type { Queries } from '../queries.ts';
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
  readonly #database: Queries;
  readonly #notifier: Notifier;

  /** @param parts.notifier Notifies when something was erased. */
  constructor(database: Queries, parts: { readonly notifier: Notifier }) {
    this.#database = database;
    this.#notifier = parts.notifier;
  }

  async apply({ id: accountId, retention }: Account, order: ErasureOrder): Promise<number> {
    const limits = limitsOf(retention, order.askedAt);
    if (limits === undefined) return 0;
    await this.#dropCampaign(accountId, limits);
    const found = await this.#find(accountId, limits, ERASED_CALLS_MAX);
    const touched = found.calls.length + found.recordings.length + found.words.length;
    if (touched === 0) return 0;
    await this.#database.transaction(async (transaction) => {
      const erasure = new CallErasure(transaction);
      for (const { id } of found.calls) await erasure.erase(id, { tombstone: null });
      for (const { id } of found.recordings) await erasure.eraseRecording(id);
      for (const { id } of found.words) await erasure.eraseWords(id);
      await transaction.run(logged(order, countsOf(found)));
    });
    this.#database.onCommit(() => this.#notifier.notify());
    return touched;
  }

  async count({ id, retention }: Account, now: Date): Promise<ErasureCounts> {
    const limits = limitsOf(retention, now);
    const everything = Number.MAX_SAFE_INTEGER;
    return countsOf(limits === undefined ? NOTHING : await this.#find(id, limits, everything));
  }

  /** One campaign at a time, which may have many contacts; a running one is kept. */
  async #dropCampaign(accountId: string, { callsBefore }: RetentionLimits): Promise<void> {
    if (callsBefore === null) return;
    const expired = build
      .selectFrom('campaigns')
      .select('id')
      .where('account_id', '=', accountId)
      .where('environment', 'in', ['live', 'test'])
      .where('created_at', '<', callsBefore.getTime())
      .where('updated_at', '<', callsBefore.getTime())
      .where('status', '<>', 'running')
      .limit(1);
    const found = await this.#database.get(expired);
    if (found === undefined) return;
    await this.#database.transaction(async (transaction) => {
      await transaction.run(build.deleteFrom('campaigns').where('id', '=', found.id));
      await new CallErasure(transaction).leaveExpired();
    });
    this.#database.onCommit(() => this.#notifier.notify());
  }

  /** `limit` in all. A call that is erased whole is in the list of calls alone. */
  async #find(accountId: string, limits: RetentionLimits, limit: number): Promise<Found> {
    const { callsBefore, recordingsBefore, transcriptsBefore } = limits;
    let left = limit;
    const gone = new Set<string>();
    const read = async (kind: keyof typeof EXPIRES, before: Date | null) => {
      if (before === null || left === 0) return [];
      const span = { before: before.getTime(), limit: left + gone.size };
      const found = await this.#database.all(expired(kind, { accountId, ...span }));
      const rows = found.filter(({ id }) => !gone.has(id));
      left -= Math.min(left, rows.length);
      return rows;
    };
    const calls = await read('calls', callsBefore);
    for (const { id } of calls) gone.add(id);
    const recordings = await read('recordings', recordingsBefore);
    return { calls, recordings, words: await read('words', transcriptsBefore) };
  }
}

/** Adds to the record that the same order has already, if any. */
function logged(order: ErasureOrder, counts: ErasureCounts) {
  return build
    .insertInto('erasures')
    .values(erasureRowOf(order, { counts, finishedAt: order.askedAt }))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        calls: sql<number>`erasures.calls + excluded.calls`,
        recordings: sql<number>`erasures.recordings + excluded.recordings`,
        transcripts: sql<number>`erasures.transcripts + excluded.transcripts`,
        finished_at: sql<number>`excluded.finished_at`,
      }),
    );
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
