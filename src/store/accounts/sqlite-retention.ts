/** Deletes rows that have had their time, a bounded number a call. */
import { sql } from 'kysely';
import { ATTEMPTS_KEPT, PRUNED_ROWS_MAX, type Retention } from '../../domain/account/account.ts';
import { IDEMPOTENCY_KEPT_MS } from '../../domain/account/rate-limit.ts';
import { SIP_TRACES_KEPT_MS } from '../../domain/call/sip-trace.ts';
import { EVENTS_KEPT_MS } from '../../domain/webhook/service-event.ts';
import type { SqliteSipTraceStore } from '../calls/sqlite-sip-trace-store.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';

/** Attempts that one call counts, by their index alone: a few milliseconds. */
const SURVEYED_MAX = 10_000;

interface Expiry {
  readonly before: number;
  readonly limit: number;
}

interface Survey {
  readonly after: string;
  readonly limit: number;
}

interface Surplus {
  readonly deliveryId: string;
  readonly kept: number;
  readonly limit: number;
}

function prepareExpiry(database: Database) {
  return {
    answers: database.prepare((take: Take<Expiry>) =>
      build.deleteFrom('idempotency_keys').where(
        sql<boolean>`rowid in (select rowid from idempotency_keys where created_at <= ${take('before')}
          order by created_at limit ${take('limit')})`,
      ),
    ),
    attempts: database.prepare((take: Take<Expiry>) =>
      build.deleteFrom('webhook_attempts').where(
        sql<boolean>`position in (select attempt.position from ${expiredDeliveries(take)}
          join webhook_attempts attempt on attempt.delivery_id = delivery.id limit ${take('limit')})`,
      ),
    ),
    deliveries: database.prepare((take: Take<Expiry>) =>
      build
        .deleteFrom('webhook_deliveries')
        .where(
          sql<boolean>`id in (select delivery.id from ${expiredDeliveries(take)} limit ${take('limit')})`,
        ),
    ),
    events: database.prepare((take: Take<Expiry>) =>
      build
        .deleteFrom('events')
        .where(
          sql<boolean>`position in (select position from ${expiredEvents(take)} limit ${take('limit')})`,
        ),
    ),
  };
}

/** The same oldest events in every statement of a call, so that an event goes after all that hangs on it. */
function expiredEvents(take: Take<Expiry>) {
  return sql`(select position, id from events where created_at < ${take('before')}
    order by created_at, position limit ${sql.lit(PRUNED_ROWS_MAX)})`;
}

function expiredDeliveries(take: Take<Expiry>) {
  return sql`${expiredEvents(take)} event
    cross join webhook_deliveries delivery on delivery.event_id = event.id`;
}

function prepareTrimming(database: Database) {
  return {
    survey: database.prepare((take: Take<Survey>) =>
      build
        .selectFrom((from) =>
          from
            .selectFrom('webhook_attempts')
            .select('delivery_id')
            .where('delivery_id', '>', take('after'))
            .orderBy('delivery_id')
            .limit(take('limit'))
            .as('surveyed'),
        )
        .select((expression) => ['delivery_id', expression.fn.countAll<number>().as('n')])
        .groupBy('delivery_id')
        .orderBy('delivery_id'),
    ),
    trim: database.prepare((take: Take<Surplus>) =>
      build.deleteFrom('webhook_attempts').where(
        sql<boolean>`position in (select position from webhook_attempts
          where delivery_id = ${take('deliveryId')}
          order by position desc limit ${take('limit')} offset ${take('kept')})`,
      ),
    ),
  };
}

/** Deleted webhook endpoints go after their deliveries, which take their few attempts with them. */
function prepareDeleted(database: Database) {
  return {
    deliveries: database.prepare((take: Take<{ limit: number }>) =>
      build.deleteFrom('webhook_deliveries').where(
        sql<boolean>`rowid in (select delivery.rowid from webhook_endpoints endpoint
          cross join webhook_deliveries delivery on delivery.endpoint_id = endpoint.id
          where endpoint.status = 'disabled' and endpoint.deleted_at is not null
          limit ${take('limit')})`,
      ),
    ),
    endpoints: database.prepare((take: Take<{ limit: number }>) =>
      build.deleteFrom('webhook_endpoints').where(
        sql<boolean>`rowid in (select rowid from webhook_endpoints endpoint
          where status = 'disabled' and deleted_at is not null
            and not exists (select 1 from webhook_deliveries where endpoint_id = endpoint.id)
          limit ${take('limit')})`,
      ),
    ),
  };
}

/** Prunes in SQLite. It remembers in memory how far it has looked for surplus attempts. */
export class SqliteRetention implements Retention {
  readonly #database: Database;
  readonly #expiry: ReturnType<typeof prepareExpiry>;
  readonly #trimming: ReturnType<typeof prepareTrimming>;
  readonly #deleted: ReturnType<typeof prepareDeleted>;
  readonly #sipTraces: SqliteSipTraceStore;
  #surveyedUpTo = '';

  constructor(database: Database, sipTraces: SqliteSipTraceStore) {
    this.#database = database;
    this.#expiry = prepareExpiry(database);
    this.#trimming = prepareTrimming(database);
    this.#deleted = prepareDeleted(database);
    this.#sipTraces = sipTraces;
  }

  prune(now: Date): number {
    const answersBefore = now.getTime() - IDEMPOTENCY_KEPT_MS;
    const eventsBefore = now.getTime() - EVENTS_KEPT_MS;
    const tracesBefore = now.getTime() - SIP_TRACES_KEPT_MS;
    const { answers, attempts, deliveries, events } = this.#expiry;
    const steps = [
      (limit: number) => this.#deleted.deliveries.run({ limit }),
      (limit: number) => this.#deleted.endpoints.run({ limit }),
      (limit: number) => answers.run({ before: answersBefore, limit }),
      (limit: number) => attempts.run({ before: eventsBefore, limit }),
      (limit: number) => deliveries.run({ before: eventsBefore, limit }),
      (limit: number) => events.run({ before: eventsBefore, limit }),
      (limit: number) => this.#sipTraces.prune(tracesBefore, limit),
      (limit: number) => this.#trim(limit),
    ];
    return this.#database.write(() => {
      let left = PRUNED_ROWS_MAX;
      for (const step of steps) if (left > 0) left -= step(left);
      return PRUNED_ROWS_MAX - left;
    });
  }

  /** Looks at the next stretch of attempts, in the order of their deliveries, and begins again after the last. */
  #trim(rowsMax: number): number {
    const survey = { after: this.#surveyedUpTo, limit: SURVEYED_MAX };
    const counted = this.#trimming.survey.all(survey);
    let left = rowsMax;
    for (const { delivery_id: deliveryId, n } of counted) {
      if (n <= ATTEMPTS_KEPT) continue;
      left -= this.#trimming.trim.run({ deliveryId, kept: ATTEMPTS_KEPT, limit: left });
      if (left === 0) return rowsMax;
    }
    const isWhole = counted.reduce((sum, { n }) => sum + n, 0) < SURVEYED_MAX;
    // The last one may have been cut short: the next call counts it again, from its beginning.
    this.#surveyedUpTo = isWhole ? '' : (counted.at(-2)?.delivery_id ?? this.#surveyedUpTo);
    return rowsMax - left;
  }
}
