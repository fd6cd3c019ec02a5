/** Webhook endpoints in SQLite, and the ledger of events that they are sent. */

import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Page, PageRange } from '../../domain/ids.ts';
import { conflict } from '../../domain/service-error.ts';
import type {
  EventQuery,
  EventStore,
  LedgerPage,
  ServiceEvent,
} from '../../domain/webhook/service-event.ts';
import type { DeliveryStatus } from '../../domain/webhook/webhook-delivery.ts';
import {
  type EndpointHealth,
  WEBHOOK_ENDPOINTS_MAX,
  type WebhookEndpoint,
  type WebhookEndpointStore,
} from '../../domain/webhook/webhook-endpoint.ts';
import { HOUR_MS, type Notifier } from '../../lib/clock.ts';
import { allOf, countOf, firstOf, inScope, pageOf, type Queries, SqliteStore } from '../queries.ts';
import { readerOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

/** Keeps webhook endpoints in SQLite. */
export class SqliteWebhookEndpointStore extends SqliteStore implements WebhookEndpointStore {
  readonly #notifier: Notifier;

  /** @param notifier Notifies after changes: deliveries that are pending for a disabled endpoint end at once. */
  constructor(database: Queries, notifier: Notifier) {
    super(database);
    this.#notifier = notifier;
  }

  async insert(endpoint: WebhookEndpoint): Promise<void> {
    const fresh = { failures_in_row: 0, failing_since: null, deleted_at: null, last_attempt: null };
    const row = { ...rowOf(endpoint), ...fresh };
    await this.database.transaction(async (transaction) => {
      if ((await countOf(transaction, endpointsOf(endpoint))) >= WEBHOOK_ENDPOINTS_MAX) {
        throw conflict(
          `Cannot make the webhook endpoint: there are ${WEBHOOK_ENDPOINTS_MAX} already`,
        );
      }
      await transaction.run(build.insertInto('webhook_endpoints').values(row));
    });
  }

  async update(endpoint: WebhookEndpoint): Promise<void> {
    const row = rowOf(endpoint);
    await this.database.transaction(async (transaction) => {
      const before = await new SqliteWebhookEndpointStore(transaction, this.#notifier).find(
        endpoint,
        endpoint.id,
      );
      if (before === undefined) return;
      const isRevived = before.status === 'disabled' && endpoint.status === 'active';
      const failures = isRevived ? { failures_in_row: 0, failing_since: null } : {};
      const update = build.updateTable('webhook_endpoints').set({ ...row, ...failures });
      await transaction.run(update.where('id', '=', endpoint.id));
    });
    this.database.onCommit(() => this.#notifier.notify());
  }

  /** Its pending deliveries end, and retention deletes the rows. */
  async delete(scope: Scope, endpointId: string, now: Date): Promise<void> {
    const deleted = build
      .updateTable('webhook_endpoints')
      .set({ status: 'disabled', disabled_reason: 'deleted', deleted_at: now.getTime() })
      .where(inScope(scope));
    await this.database.run(deleted.where('id', '=', endpointId));
    this.database.onCommit(() => this.#notifier.notify());
  }

  async find(scope: Scope, endpointId: string): Promise<WebhookEndpoint | undefined> {
    const query = endpointsOf(scope).selectAll().where('id', '=', endpointId);
    return firstOf(this.database, query, endpointOf);
  }

  list(scope: Scope, range: PageRange): Promise<Page<WebhookEndpoint>> {
    const every = endpointsOf(scope);
    const sorted = every.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
    return pageOf(this.database, { every, sorted, range }, endpointOf);
  }

  async health(endpointId: string): Promise<EndpointHealth> {
    const counts = build
      .selectFrom('delivery_counts')
      .select(['status', 'deliveries'])
      .where('endpoint_id', '=', endpointId);
    const rows = await this.database.all(counts);
    const countOfStatus = (status: DeliveryStatus) =>
      rows.find((row) => row.status === status)?.deliveries ?? 0;
    const noted = build
      .selectFrom('webhook_endpoints')
      .select('last_attempt')
      .where('id', '=', endpointId);
    const last = (await this.database.get(noted))?.last_attempt ?? null;
    return {
      deliveryCounts: {
        pending: countOfStatus('pending'),
        succeeded: countOfStatus('succeeded'),
        failed: countOfStatus('failed'),
      },
      lastAttempt: last === null ? null : attemptOf(last),
    };
  }
}

function endpointsOf(scope: Scope) {
  return build
    .selectFrom('webhook_endpoints')
    .where(inScope(scope))
    .where('deleted_at', 'is', null);
}

const endpointOf = readerOf<WebhookEndpoint>({
  json: ['events'],
  without: ['failures_in_row', 'failing_since', 'deleted_at', 'after_position', 'last_attempt'],
});

function attemptOf(json: string): EndpointHealth['lastAttempt'] {
  const { at, statusCode, error } = JSON.parse(json);
  return { at: new Date(at), statusCode, error };
}

/**
 * Events that one page looks at, however many its filters leave: a few milliseconds, because calls share the thread.
 */
const LOOKED_AT_MAX = 10_000;

/** Hour of an event, in the form of the index `events_by_hour`. */
const HOUR = sql`created_at / 3600000`;

/** Keeps events in SQLite. */
export class SqliteEventStore extends SqliteStore implements EventStore {
  readonly #notifier: Notifier;

  /** @param notifier Notifies after events were written. */
  constructor(database: Queries, notifier: Notifier) {
    super(database);
    this.#notifier = notifier;
  }

  /** Writes events inside the transaction of the change that caused them. */
  async add(events: readonly ServiceEvent[]): Promise<void> {
    for (const event of events) await this.insertQuiet(event);
    if (events.length > 0) this.database.onCommit(() => this.#notifier.notify());
  }

  async insertQuiet(event: ServiceEvent): Promise<void> {
    await this.database.run(build.insertInto('events').values(rowOf(event)));
  }

  async listByCall(callId: string): Promise<readonly ServiceEvent[]> {
    const query = build.selectFrom('events').selectAll().where('call_id', '=', callId);
    return allOf(this.database, query.orderBy('position'), eventOf);
  }

  async page(scope: Scope, query: EventQuery): Promise<LedgerPage> {
    const { limit, afterPosition } = query;
    const after = await this.#start(query);
    // A call has few events, and an index that leads to them.
    const horizon = query.callId === undefined ? await this.#horizon(scope, after) : undefined;
    const every = ledgerRows(scope, after);
    const filtered = filterEvents(horizon ? every.where('position', '<=', horizon) : every, query);
    const rows = await this.database.all(filtered.orderBy('position').limit(limit + 1));
    const events = rows.slice(0, limit).map(eventOf);
    const last = rows.slice(0, limit).at(-1)?.position ?? afterPosition;
    if (rows.length > limit) return { events, nextPosition: last, hasMore: true };
    return { events, nextPosition: horizon ?? last, hasMore: horizon !== undefined };
  }

  /** A ledger that is read from its beginning starts at the first event since the hour of `createdFrom`. */
  async #start({ afterPosition, createdFrom }: EventQuery): Promise<number> {
    if (afterPosition > 0 || createdFrom === undefined) return afterPosition;
    const first = await this.database.get(firstSince(Math.floor(createdFrom.getTime() / HOUR_MS)));
    return (first?.position ?? Number.MAX_SAFE_INTEGER) - 1;
  }

  /** Position of the last event that a page may examine; undefined when there are fewer. */
  async #horizon(scope: Scope, after: number): Promise<number | undefined> {
    const query = ledger(scope, after).select('position').orderBy('position').limit(2);
    const [last, behind] = await this.database.all(query.offset(LOOKED_AT_MAX - 1));
    return behind === undefined ? undefined : last?.position;
  }
}

function ledger(scope: Scope, after: number) {
  return build.selectFrom('events').where(inScope(scope)).where('position', '>', after);
}

/** `webhook.test` goes to one endpoint only, and is left out. */
function ledgerRows(scope: Scope, after: number) {
  return ledger(scope, after).selectAll().where('kind', '<>', 'webhook.test');
}

function filterEvents(
  events: ReturnType<typeof ledgerRows>,
  { kind, callId, createdFrom, createdBefore }: EventQuery,
) {
  let query = events;
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (callId !== undefined) query = query.where('call_id', '=', callId);
  if (createdFrom !== undefined) query = query.where('created_at', '>=', createdFrom.getTime());
  if (createdBefore !== undefined) query = query.where('created_at', '<', createdBefore.getTime());
  return query;
}

/**
 * The first event since an hour, by two index seeks for each hour with events: a millisecond for all stored events. Hours
 * are read one by one because events are not in the order of their times: sandbox events lie in the future, and clocks
 * are set back.
 */
function firstSince(hour: number) {
  const next = (from: RawBuilder<unknown>) =>
    sql`(select ${HOUR} from events where ${HOUR} ${from} order by ${HOUR} limit 1)`;
  const firstOfHours = sql<{ position: number | null }>`(with recursive hours(hour) as (
      select ${next(sql`>= ${hour}`)}
      union all select ${next(sql`> hour`)} from hours where hour is not null)
    select (select position from events where ${HOUR} = hour order by position limit 1) as position
    from hours)`;
  return build
    .selectFrom(firstOfHours.as('first'))
    .select((expression) => expression.fn.min('first.position').as('position'));
}

const eventOf = readerOf<ServiceEvent>({ without: ['position'] });
