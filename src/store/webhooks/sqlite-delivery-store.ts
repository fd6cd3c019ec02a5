/** Deliveries in SQLite as customers see them: lists, attempts, and sending again. */
import { sql } from 'kysely';
import { ATTEMPTS_KEPT } from '../../domain/account/account.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type {
  DeliveryAttempt,
  DeliveryPage,
  DeliveryQuery,
  DeliveryStore,
  ResendRange,
  WebhookDelivery,
} from '../../domain/webhook/webhook-delivery.ts';
import { RESENDS_MAX } from '../../domain/webhook/webhook-rules.ts';
import type { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';
import { DeliveryList } from './delivery-list.ts';
import { ATTEMPT_COLUMNS, attemptOf, DELIVERY_COLUMNS, deliveryOf } from './delivery-rows.ts';
import { dueAtOnce, insertDelivery } from './new-delivery.ts';
import type { WebhookDeliveryRow } from './webhook-rows.ts';

interface ById extends Scope {
  readonly id: string;
}

interface RangeValues extends Scope {
  readonly from: number;
  readonly before: number;
  readonly status: string;
  readonly endpointId: string | null;
  readonly limit: number;
  readonly now: number;
}

interface KeptDelivery extends WebhookDeliveryRow {
  readonly endpoint_status: string;
}

function prepareReads(database: Database) {
  return {
    find: database.prepare((take: Take<ById>) =>
      build
        .selectFrom('webhook_deliveries')
        .select(DELIVERY_COLUMNS)
        .select(
          sql<string>`(select status from webhook_endpoints where id = endpoint_id)`.as(
            'endpoint_status',
          ),
        )
        .where('id', '=', take('id'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where(
          sql<boolean>`exists (select 1 from webhook_endpoints
            where id = endpoint_id and deleted_at is null)`,
        ),
    ),
    attempts: database.prepare((take: Take<{ id: string; limit: number }>) =>
      build
        .selectFrom('webhook_attempts')
        .select(ATTEMPT_COLUMNS)
        .where('delivery_id', '=', take('id'))
        .orderBy('position', 'desc')
        .limit(take('limit')),
    ),
  };
}

/** From the first attempt again, at once. What the newest attempt met stays readable. */
function restart(take: Take<{ now: number }>) {
  return build
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', attempts: 0, next_attempt_at: take('now'), finished_at: null });
}

function prepareWrites(database: Database) {
  return {
    restart: database.prepare((take: Take<{ id: string; now: number }>) =>
      restart(take).where('id', '=', take('id')),
    ),
    restartRange: database.prepare((take: Take<RangeValues>) =>
      restart(take).where(sql<boolean>`rowid in ${selectRange(take)}`),
    ),
    add: database.prepare(insertDelivery),
  };
}

/**
 * What is over, oldest event first, of endpoints that take it. Each endpoint's oldest come from the index
 * `deliveries_over`, whose condition SQLite wants to see in the statement; nothing else of the span is read, however
 * much there is of other endpoints and statuses.
 */
function selectRange(take: Take<RangeValues>) {
  return sql`(select delivery.rowid from webhook_endpoints endpoint
    cross join webhook_deliveries delivery on delivery.rowid in (
      select rowid from webhook_deliveries
      where endpoint_id = endpoint.id and status = ${take('status')} and status <> 'pending'
        and event_at >= ${take('from')} and event_at < ${take('before')}
      order by event_at limit ${take('limit')})
    where endpoint.account_id = ${take('accountId')} and endpoint.environment = ${take('environment')}
      and endpoint.status = 'active' and endpoint.id = coalesce(${take('endpointId')}, endpoint.id)
    order by delivery.event_at limit ${take('limit')})`;
}

/** Keeps deliveries in SQLite. */
export class SqliteDeliveryStore implements DeliveryStore {
  readonly #database: Database;
  readonly #bell: Notifier;
  readonly #list: DeliveryList;
  readonly #reads: ReturnType<typeof prepareReads>;
  readonly #writes: ReturnType<typeof prepareWrites>;

  /** @param bell Rings when deliveries were made due. */
  constructor(database: Database, bell: Notifier) {
    this.#database = database;
    this.#bell = bell;
    this.#list = new DeliveryList(database);
    this.#reads = prepareReads(database);
    this.#writes = prepareWrites(database);
  }

  list(scope: Scope, query: DeliveryQuery): DeliveryPage {
    return this.#list.list(scope, query);
  }

  find(scope: Scope, deliveryId: string): WebhookDelivery | undefined {
    const row = this.#database.read(() => this.#row(scope, deliveryId));
    return row === undefined ? undefined : deliveryOf(row);
  }

  attempts(deliveryId: string): readonly DeliveryAttempt[] {
    const values = { id: deliveryId, limit: ATTEMPTS_KEPT };
    return this.#database
      .read(() => this.#reads.attempts.all(values))
      .map(attemptOf)
      .reverse();
  }

  resend(scope: Scope, deliveryId: string, now: Date): WebhookDelivery {
    const resent = this.#database.write(() => {
      refuseResend(this.#row(scope, deliveryId), deliveryId);
      this.#writes.restart.run({ id: deliveryId, now: now.getTime() });
      return existing(this.#row(scope, deliveryId), deliveryId);
    });
    this.#bell.ring();
    return deliveryOf(resent);
  }

  resendRange(scope: Scope, range: ResendRange, now: Date): number {
    const values = {
      accountId: scope.accountId,
      environment: scope.environment,
      from: range.from.getTime(),
      before: range.before.getTime(),
      status: range.status ?? 'failed',
      endpointId: range.endpointId ?? null,
      limit: RESENDS_MAX,
      now: now.getTime(),
    };
    const resent = this.#database.write(() => this.#writes.restartRange.run(values));
    if (resent > 0) this.#bell.ring();
    return resent;
  }

  sendTo(endpointId: string, event: { readonly id: string }, deliveryId: string, now: Date): void {
    const madeAtMs = now.getTime();
    const values = { ...dueAtOnce(deliveryId, madeAtMs), endpointId, eventId: event.id, madeAtMs };
    const added = this.#database.write(() => this.#writes.add.run(values));
    if (added === 0) {
      throw new Error(`Cannot send "${event.id}" to "${endpointId}": one of them was never kept`);
    }
    this.#bell.ring();
  }

  #row(scope: Scope, deliveryId: string): KeptDelivery | undefined {
    const { accountId, environment } = scope;
    return this.#reads.find.get({ accountId, environment, id: deliveryId });
  }
}

/** @throws {ServiceError} CONFLICT while it is pending, or its endpoint is disabled. */
function refuseResend(row: KeptDelivery | undefined, deliveryId: string): void {
  const { status, endpoint_status } = existing(row, deliveryId);
  if (status === 'pending') {
    throw new ServiceError('CONFLICT', 'Cannot resend the delivery: it is pending');
  }
  if (endpoint_status === 'disabled') {
    throw new ServiceError('CONFLICT', 'Cannot resend the delivery: its endpoint is disabled');
  }
}

/** @throws {Error} when it was never kept: callers look for it first. */
function existing(row: KeptDelivery | undefined, deliveryId: string): KeptDelivery {
  if (row === undefined) throw new Error(`Cannot resend "${deliveryId}": it was never kept`);
  return row;
}
