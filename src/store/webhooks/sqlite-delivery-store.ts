/** Webhook deliveries in SQLite as customers see them: lists, attempts, and resends. */

import { type RawBuilder, sql } from 'kysely';
import { ATTEMPTS_KEPT } from '../../domain/account/account.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Page } from '../../domain/ids.ts';
import { conflict } from '../../domain/service-error.ts';
import type {
  DeliveryAttempt,
  DeliveryQuery,
  DeliveryStore,
  ResendRange,
  WebhookDelivery,
} from '../../domain/webhook/webhook-delivery.ts';
import { RESENDS_MAX } from '../../domain/webhook/webhook-endpoint.ts';
import type { Notifier } from '../../lib/clock.ts';
import { allOf, inScope, type Queries, SqliteStore } from '../queries.ts';
import { readerOf } from '../sqlite/rows.ts';
import { build, type WebhookDeliveryRow } from '../sqlite/schema.ts';

/** A delivery with the call of its event. */
type DeliveryRow = WebhookDeliveryRow & { readonly call_id: string | null };

type DeliveryOfEndpoint = DeliveryRow & { readonly endpoint_status: string };

/** Keeps deliveries in SQLite. */
export class SqliteDeliveryStore extends SqliteStore implements DeliveryStore {
  readonly #notifier: Notifier;

  /** @param notifier Notifies when deliveries were made due. */
  constructor(database: Queries, notifier: Notifier) {
    super(database);
    this.#notifier = notifier;
  }

  /** Newest first, ties by id. */
  async list(scope: Scope, query: DeliveryQuery): Promise<Page<WebhookDelivery>> {
    return {
      items: await allOf(this.database, selectPage(scope, query), deliveryOf),
      total: (await this.database.get(selectTotal(scope, query)))?.n ?? 0,
    };
  }

  async find(scope: Scope, deliveryId: string): Promise<WebhookDelivery | undefined> {
    const row = await deliveryRow(this.database, scope, deliveryId);
    return row === undefined ? undefined : deliveryOf(row);
  }

  async body({ eventId }: Pick<WebhookDelivery, 'eventId'>): Promise<string | undefined> {
    const query = build.selectFrom('events').select('body').where('id', '=', eventId);
    return (await this.database.get(query))?.body;
  }

  async attempts(deliveryId: string): Promise<readonly DeliveryAttempt[]> {
    const query = build
      .selectFrom('webhook_attempts')
      .selectAll()
      .where('delivery_id', '=', deliveryId)
      .orderBy('position', 'desc')
      .limit(ATTEMPTS_KEPT);
    return (await allOf(this.database, query, attemptOf)).toReversed();
  }

  async resend(scope: Scope, deliveryId: string, now: Date): Promise<WebhookDelivery> {
    const resent = await this.database.transaction(async (transaction) => {
      const row = existing(await deliveryRow(transaction, scope, deliveryId), deliveryId);
      refuseResend(row, now);
      const again = row.status === 'pending' ? hurry(now) : restart(now);
      await transaction.run(again.where('id', '=', deliveryId));
      return existing(await deliveryRow(transaction, scope, deliveryId), deliveryId);
    });
    this.database.onCommit(() => this.#notifier.notify());
    return deliveryOf(resent);
  }

  async resendRange(scope: Scope, range: ResendRange, now: Date): Promise<number> {
    const resent = await this.database.run(restart(now).where(isInRange(scope, range)));
    if (resent > 0) this.database.onCommit(() => this.#notifier.notify());
    return resent;
  }

  async sendTo(
    endpointId: string,
    event: { readonly id: string },
    deliveryId: string,
    now: Date,
  ): Promise<void> {
    const delivery = { id: deliveryId, endpointId, eventId: event.id };
    if ((await this.database.run(newDelivery(delivery, now.getTime()))) === 0) {
      throw new Error(`Cannot send "${event.id}" to "${endpointId}": one of them was never kept`);
    }
    this.database.onCommit(() => this.#notifier.notify());
  }
}

const attemptOf = readerOf<DeliveryAttempt>({
  json: ['requestHeaders', 'responseHeaders'],
  without: ['delivery_id', 'position'],
});

async function deliveryRow(
  database: Queries,
  { accountId, environment }: Scope,
  deliveryId: string,
): Promise<DeliveryOfEndpoint | undefined> {
  return database.get(
    build
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'delivery.endpoint_id')
      .leftJoin('events as event', 'event.id', 'delivery.event_id')
      .selectAll('delivery')
      .select('event.call_id')
      .select('endpoint.status as endpoint_status')
      .where('delivery.id', '=', deliveryId)
      .where('delivery.account_id', '=', accountId)
      .where('delivery.environment', '=', environment)
      .where('endpoint.deleted_at', 'is', null),
  );
}

/**
 * Inserts a delivery that is due at once; its account and kind are those of its endpoint and event. Inserts no row when
 * one of them is gone.
 */
export function newDelivery(
  delivery: { readonly id: string; readonly endpointId: string; readonly eventId: string },
  nowMs: number,
) {
  const insert = sql`insert into webhook_deliveries (id, account_id, environment, endpoint_id, event_id,
      event_kind, event_at, status, attempts, next_attempt_at, created_at)
    select ${delivery.id}, endpoint.account_id, endpoint.environment, endpoint.id, event.id,
      event.kind, event.created_at, 'pending', 0, ${nowMs}, ${nowMs}
    from webhook_endpoints endpoint join events event on event.id = ${delivery.eventId}
    where endpoint.id = ${delivery.endpointId}`;
  return { compile: () => insert.compile(build) };
}

/** Makes a delivery due at once, from its first attempt. The result of its newest attempt stays readable. */
function restart(now: Date) {
  return build.updateTable('webhook_deliveries').set({
    status: 'pending',
    attempts: 0,
    next_attempt_at: now.getTime(),
    finished_at: null,
  });
}

/** Makes the waiting attempt due at once; earlier attempts still count. */
function hurry(now: Date) {
  return build.updateTable('webhook_deliveries').set({ next_attempt_at: now.getTime() });
}

/**
 * Deliveries that are over, oldest event first, of active endpoints. Each endpoint's oldest come from the index
 * `deliveries_over`, so that a large span is not read whole.
 */
function isInRange({ accountId, environment }: Scope, range: ResendRange): RawBuilder<boolean> {
  const ofEndpoint = range.endpointId ?? null;
  return sql`rowid in (select delivery.rowid from webhook_endpoints endpoint
    cross join webhook_deliveries delivery on delivery.rowid in (
      select rowid from webhook_deliveries
      where endpoint_id = endpoint.id and status = ${range.status ?? 'failed'} and status <> 'pending'
        and event_at >= ${range.from.getTime()} and event_at < ${range.before.getTime()}
      order by event_at limit ${RESENDS_MAX})
    where endpoint.account_id = ${accountId} and endpoint.environment = ${environment}
      and endpoint.status = 'active' and endpoint.id = coalesce(${ofEndpoint}, endpoint.id)
    order by delivery.event_at limit ${RESENDS_MAX})`;
}

/** The endpoints of a scope that are not deleted. */
function endpointsOf(scope: Scope) {
  return build
    .selectFrom('webhook_endpoints')
    .select('id')
    .where(inScope(scope))
    .where('deleted_at', 'is', null);
}

/** The page's ids come from an index, so that most skipped rows are never read. */
function selectPage(scope: Scope, query: DeliveryQuery) {
  const ids = filtered(scope, query)
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(query.limit)
    .offset(query.offset);
  return build
    .selectFrom('webhook_deliveries as delivery')
    .leftJoin('events as event', 'event.id', 'delivery.event_id')
    .selectAll('delivery')
    .select('event.call_id')
    .where('delivery.id', 'in', ids)
    .orderBy('delivery.created_at', 'desc')
    .orderBy('delivery.id', 'desc');
}

/** An event has few deliveries. Triggers keep the counts of each endpoint. */
function selectTotal(scope: Scope, query: DeliveryQuery) {
  if (query.eventId !== undefined) {
    const count = sql<number>`count(*)`.as('n');
    return filtered(scope, query).select(count);
  }
  const endpoints = endpointsOf(scope);
  const { endpointId, status } = query;
  const counted = build
    .selectFrom('delivery_counts')
    .select(sql<number>`coalesce(sum(deliveries), 0)`.as('n'))
    .where(
      'endpoint_id',
      'in',
      endpointId === undefined ? endpoints : endpoints.where('id', '=', endpointId),
    );
  return status === undefined ? counted : counted.where('status', '=', status);
}

/** Status is a literal, because it is the condition of the indexes of failed and of pending deliveries. */
function filtered(scope: Scope, { status, endpointId, eventId }: DeliveryQuery) {
  let query = build
    .selectFrom('webhook_deliveries')
    .where(inScope(scope))
    .where('endpoint_id', 'in', endpointsOf(scope));
  if (status !== undefined) query = query.where('status', '=', sql.lit(status));
  if (endpointId !== undefined) query = query.where('endpoint_id', '=', endpointId);
  if (eventId !== undefined) query = query.where('event_id', '=', eventId);
  return query;
}

/** @throws {ServiceError} CONFLICT while an attempt is due or in progress, or its endpoint is disabled. */
function refuseResend(delivery: DeliveryOfEndpoint, now: Date): void {
  const { endpoint_status, next_attempt_at, status } = delivery;
  if (status === 'pending' && (next_attempt_at ?? 0) <= now.getTime()) {
    throw conflict('Cannot resend the delivery: it is being sent');
  }
  if (endpoint_status === 'disabled') {
    throw conflict('Cannot resend the delivery: its endpoint is disabled');
  }
}

/** @throws {Error} when it was never kept: callers look for it first. */
function existing(row: DeliveryOfEndpoint | undefined, deliveryId: string): DeliveryOfEndpoint {
  if (row === undefined) throw new Error(`Cannot resend "${deliveryId}": it was never kept`);
  return row;
}

const deliveryOf = readerOf<WebhookDelivery>({ without: ['event_at', 'endpoint_status'] });
