/** Retention in SQLite: deletes the server's own rows by age, and an account's data by its retention, a bounded number a call. */
import { type RawBuilder, sql } from 'kysely';
import { type Account, PRUNED_ROWS_MAX } from '../../domain/account/account.ts';
import { AUDIT_KEPT_MS, AUDIT_ROWS_MAX } from '../../domain/account/audit-log.ts';
import {
  ERASED_CALLS_MAX,
  type ErasureCounts,
  type ErasureOrder,
  limitsOf,
  type RetentionLimits,
} from '../../domain/account/erasure.ts';
import { IDEMPOTENCY_KEPT_MS } from '../../domain/account/rate-limit.ts';
import { SIP_TRACES_KEPT_MS } from '../../domain/call/sip-trace.ts';
import { EVENTS_KEPT_MS } from '../../domain/webhook/service-event.ts';
import type { Notifier } from '../../lib/clock.ts';
import { type Queries, SqliteStore } from '../queries.ts';
import { build } from '../sqlite/schema.ts';
import { CallErasure, erasureRowOf } from './sqlite-erasure-store.ts';

/** Deletes expired rows of the server. */
export class SqliteRetention extends SqliteStore {
  /**
   * Deletes the rows of deleted webhook endpoints, and the oldest of: answers older than `IDEMPOTENCY_KEPT_MS`; events older
   * than `EVENTS_KEPT_MS`, with their deliveries and the attempts of those; SIP messages of calls older than
   * `SIP_TRACES_KEPT_MS`; entries of the audit log older than `AUDIT_KEPT_MS` or beyond `AUDIT_ROWS_MAX`.
   *
   * @returns how many rows went; `PRUNED_ROWS_MAX` means that there may be more.
   */
  async prune(now: Date): Promise<number> {
    const nowMs = now.getTime();
    const steps = [
      deliveriesOfDeleted,
      deletedEndpoints,
      (limit: number) => expiredAnswers(nowMs - IDEMPOTENCY_KEPT_MS, limit),
      (limit: number) => expiredDeliveries(nowMs - EVENTS_KEPT_MS, limit),
      (limit: number) => expiredEvents(nowMs - EVENTS_KEPT_MS, limit),
      (limit: number) => expiredTraces(nowMs - SIP_TRACES_KEPT_MS, limit),
      (limit: number) => orphanedAppointments(nowMs, limit),
      (limit: number) => oldAuditEntries(nowMs - AUDIT_KEPT_MS, limit),
      surplusAuditEntries,
    ];
    return this.database.transaction(async (transaction) => {
      let left = PRUNED_ROWS_MAX;
      for (const step of steps) if (left > 0) left -= await transaction.run(step(left));
      return PRUNED_ROWS_MAX - left;
    });
  }
}

function expiredAnswers(before: number, limit: number) {
  return build.deleteFrom('idempotency_keys').where(
    sql<boolean>`rowid in (select rowid from idempotency_keys where created_at <= ${before}
      order by created_at limit ${limit})`,
  );
}

/** The same oldest events in every statement of a call, so that an event goes after its deliveries. */
function oldEvents(before: number) {
  return sql`(select position, id from events where created_at < ${before}
    order by created_at, position limit ${PRUNED_ROWS_MAX})`;
}

/** Their attempts go with them. */
function expiredDeliveries(before: number, limit: number) {
  return build.deleteFrom('webhook_deliveries').where(
    sql<boolean>`id in (select delivery.id from ${oldEvents(before)} event
      cross join webhook_deliveries delivery on delivery.event_id = event.id limit ${limit})`,
  );
}

function expiredEvents(before: number, limit: number) {
  return build
    .deleteFrom('events')
    .where(sql<boolean>`position in (select position from ${oldEvents(before)} limit ${limit})`);
}

function expiredTraces(before: number, limit: number) {
  const expired = build
    .selectFrom('sip_traces')
    .select('call_id')
    .where('kept_at', '<', before)
    .orderBy('kept_at')
    .limit(limit);
  return build.deleteFrom('sip_traces').where('call_id', 'in', expired);
}

/** Appointments that are over, of calls that have expired. */
function orphanedAppointments(now: number, limit: number) {
  return build.deleteFrom('appointments').where(
    sql<boolean>`rowid in (select appointment.rowid from appointments appointment
      where ends_at < ${now} and not exists (select 1 from calls where calls.id = call_id)
      limit ${limit})`,
  );
}

/** Deleted webhook endpoints go after their deliveries, which take their few attempts with them. */
function deliveriesOfDeleted(limit: number) {
  return build.deleteFrom('webhook_deliveries').where(
    sql<boolean>`rowid in (select delivery.rowid from webhook_endpoints endpoint
      cross join webhook_deliveries delivery on delivery.endpoint_id = endpoint.id
      where endpoint.status = 'disabled' and endpoint.deleted_at is not null limit ${limit})`,
  );
}

function deletedEndpoints(limit: number) {
  return build.deleteFrom('webhook_endpoints').where(
    sql<boolean>`rowid in (select rowid from webhook_endpoints endpoint
      where status = 'disabled' and deleted_at is not null
        and not exists (select 1 from webhook_deliveries where endpoint_id = endpoint.id)
      limit ${limit})`,
  );
}

function oldAuditEntries(before: number, limit: number) {
  return build.deleteFrom('audit_log').where(
    sql<boolean>`position in (select position from audit_log where at < ${before}
      order by at limit ${limit})`,
  );
}

function surplusAuditEntries(limit: number) {
  return build.deleteFrom('audit_log').where(
    sql<boolean>`position in (select position from audit_log
      where position <= (select max(position) from audit_log) - ${AUDIT_ROWS_MAX}
      order by position limit ${limit})`,
  );
}

/** Conditions as their indexes have them; `calls_by_time` begins with account and environment. */
const EXPIRES: Readonly<Record<'calls' | 'recordings' | 'words', RawBuilder<boolean>>> = {
  calls: sql`environment in ('live', 'test')`,
  recordings: sql`recording_file is not null`,
  words: sql`words_erased = 0 and not exists (select 1 from analysis_jobs where call_id = calls.id)`,
};

/** Erases records past their retention, of calls that are over, in both environments. Leaves no tombstones. */
export class SqliteAccountRetention extends SqliteStore {
  readonly #notifier: Notifier;

  /** @param notifier Notifies of erasures. */
  constructor(database: Queries, notifier: Notifier) {
    super(database);
    this.#notifier = notifier;
  }

  /**
   * Erases, in one transaction, of `ERASED_CALLS_MAX` calls at most: whole calls first, then recordings, then words.
   *
   * @param order of kind `retention`; the same one in every step of a round.
   * @returns of how many calls; `ERASED_CALLS_MAX` means that there may be more.
   */
  async apply({ id: accountId, retention }: Account, order: ErasureOrder): Promise<number> {
    const limits = limitsOf(retention, order.askedAt);
    if (limits === undefined) return 0;
    await this.#dropCampaign(accountId, limits);
    const found = await this.#find(accountId, limits, ERASED_CALLS_MAX);
    const touched = found.calls.length + found.recordings.length + found.words.length;
    if (touched === 0) return 0;
    await this.database.transaction(async (transaction) => {
      const erasure = new CallErasure(transaction);
      for (const { id } of found.calls) await erasure.erase(id, null);
      for (const { id } of found.recordings) await erasure.eraseRecording(id);
      for (const { id } of found.words) await erasure.eraseWords(id);
      await transaction.run(logged(order, countsOf(found)));
    });
    this.database.onCommit(() => this.#notifier.notify());
    return touched;
  }

  /** Counts what `apply` would erase over all steps of a round. */
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
    const found = await this.database.get(expired);
    if (found === undefined) return;
    await this.database.transaction(async (transaction) => {
      await transaction.run(build.deleteFrom('campaigns').where('id', '=', found.id));
      await new CallErasure(transaction).leaveExpired();
    });
    this.database.onCommit(() => this.#notifier.notify());
  }

  /** `limit` in all. A call that is erased whole is in the list of calls alone. */
  async #find(accountId: string, limits: RetentionLimits, limit: number): Promise<Found> {
    const { callsBefore, recordingsBefore, transcriptsBefore } = limits;
    let left = limit;
    const gone = new Set<string>();
    const read = async (kind: keyof typeof EXPIRES, before: Date | null) => {
      if (before === null || left === 0) return [];
      const span = { before: before.getTime(), limit: left + gone.size };
      const found = await this.database.all(expired(kind, { accountId, ...span }));
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

interface Expired {
  readonly id: string;
  readonly has_recording: number;
}

type Found = Readonly<Record<keyof typeof EXPIRES, readonly Expired[]>>;

const NOTHING: Found = { calls: [], recordings: [], words: [] };

function countsOf({ calls, recordings, words }: Found): ErasureCounts {
  const ofCalls = calls.filter(({ has_recording }) => has_recording === 1).length;
  return {
    calls: calls.length,
    recordings: recordings.length + ofCalls,
    transcripts: words.length,
  };
}
