/** Deletes expired rows in SQLite, a bounded number a call. */
import { sql } from 'kysely';
import { PRUNED_ROWS_MAX, type Retention } from '../../domain/account/account.ts';
import { AUDIT_KEPT_MS, AUDIT_ROWS_MAX } from '../../domain/account/audit-log.ts';
import { IDEMPOTENCY_KEPT_MS } from '../../domain/account/rate-limit.ts';
import { SIP_TRACES_KEPT_MS } from '../../domain/call/sip-trace.ts';
import { EVENTS_KEPT_MS } from '../../domain/webhook/service-event.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';

/** Prunes in SQLite. */
export class SqliteRetention implements Retention {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async prune(now: Date): Promise<number> {
    const answersBefore = now.getTime() - IDEMPOTENCY_KEPT_MS;
    const eventsBefore = now.getTime() - EVENTS_KEPT_MS;
    const tracesBefore = now.getTime() - SIP_TRACES_KEPT_MS;
    const steps = [
      deliveriesOfDeleted,
      deletedEndpoints,
      (limit: number) => expiredAnswers(answersBefore, limit),
      (limit: number) => expiredDeliveries(eventsBefore, limit),
      (limit: number) => expiredEvents(eventsBefore, limit),
      (limit: number) => expiredTraces(tracesBefore, limit),
      (limit: number) => orphanedAppointments(now.getTime(), limit),
      (limit: number) => oldAuditEntries(now.getTime() - AUDIT_KEPT_MS, limit),
      (limit: number) => surplusAuditEntries(limit),
    ];
    return this.#database.transaction(async (transaction) => {
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
