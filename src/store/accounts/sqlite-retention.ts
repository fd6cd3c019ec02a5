/** Deletes expired rows in SQLite, a bounded number a call. */
import { sql } from 'kysely';
import { ATTEMPTS_KEPT, PRUNED_ROWS_MAX, type Retention } from '../../domain/account/account.ts';
import { IDEMPOTENCY_KEPT_MS } from '../../domain/account/rate-limit.ts';
import { SIP_TRACES_KEPT_MS } from '../../domain/call/sip-trace.ts';
import { EVENTS_KEPT_MS } from '../../domain/webhook/service-event.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';

/** Attempts that one call counts, by their index alone: a few milliseconds. */
const SURVEYED_MAX = 10_000;

/** Prunes in SQLite. The progress of the search for surplus attempts is kept in memory. */
export class SqliteRetention implements Retention {
  readonly #database: Queries;
  #surveyedUpTo = '';

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
      (limit: number) => expiredAttempts(eventsBefore, limit),
      (limit: number) => expiredDeliveries(eventsBefore, limit),
      (limit: number) => expiredEvents(eventsBefore, limit),
      (limit: number) => expiredTraces(tracesBefore, limit),
    ];
    return this.#database.transaction(async (transaction) => {
      let left = PRUNED_ROWS_MAX;
      for (const step of steps) if (left > 0) left -= await transaction.run(step(left));
      if (left > 0) left -= await this.#trim(transaction, left);
      return PRUNED_ROWS_MAX - left;
    });
  }

  /** Looks at the next stretch of attempts, in the order of their deliveries, and starts over after the last. */
  async #trim(transaction: Queries, rowsMax: number): Promise<number> {
    const counted = await transaction.all(attemptsAfter(this.#surveyedUpTo));
    let left = rowsMax;
    for (const { delivery_id: deliveryId, n } of counted) {
      if (n <= ATTEMPTS_KEPT) continue;
      left -= await transaction.run(surplusAttempts(deliveryId, left));
      if (left === 0) return rowsMax;
    }
    const isWhole = counted.reduce((sum, { n }) => sum + n, 0) < SURVEYED_MAX;
    // The last delivery may have been cut short: the next call counts it again, from its first attempt.
    this.#surveyedUpTo = isWhole ? '' : (counted.at(-2)?.delivery_id ?? this.#surveyedUpTo);
    return rowsMax - left;
  }
}

function expiredAnswers(before: number, limit: number) {
  return build.deleteFrom('idempotency_keys').where(
    sql<boolean>`rowid in (select rowid from idempotency_keys where created_at <= ${before}
      order by created_at limit ${limit})`,
  );
}

/** The same oldest events in every statement of a call, so that an event goes after its deliveries and attempts. */
function oldEvents(before: number) {
  return sql`(select position, id from events where created_at < ${before}
    order by created_at, position limit ${PRUNED_ROWS_MAX})`;
}

function deliveriesOfOldEvents(before: number) {
  return sql`${oldEvents(before)} event
    cross join webhook_deliveries delivery on delivery.event_id = event.id`;
}

function expiredAttempts(before: number, limit: number) {
  return build.deleteFrom('webhook_attempts').where(
    sql<boolean>`position in (select attempt.position from ${deliveriesOfOldEvents(before)}
      join webhook_attempts attempt on attempt.delivery_id = delivery.id limit ${limit})`,
  );
}

function expiredDeliveries(before: number, limit: number) {
  return build
    .deleteFrom('webhook_deliveries')
    .where(
      sql<boolean>`id in (select delivery.id from ${deliveriesOfOldEvents(before)} limit ${limit})`,
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

function attemptsAfter(deliveryId: string) {
  const surveyed = build
    .selectFrom('webhook_attempts')
    .select('delivery_id')
    .where('delivery_id', '>', deliveryId)
    .orderBy('delivery_id')
    .limit(SURVEYED_MAX);
  return build
    .selectFrom(surveyed.as('surveyed'))
    .select((expression) => ['delivery_id', expression.fn.countAll<number>().as('n')])
    .groupBy('delivery_id')
    .orderBy('delivery_id');
}

/** The oldest attempts of a delivery, beyond `ATTEMPTS_KEPT`. */
function surplusAttempts(deliveryId: string, limit: number) {
  const surplus = build
    .selectFrom('webhook_attempts')
    .select('position')
    .where('delivery_id', '=', deliveryId)
    .orderBy('position', 'desc')
    .limit(limit)
    .offset(ATTEMPTS_KEPT);
  return build.deleteFrom('webhook_attempts').where('position', 'in', surplus);
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
