/** Lists of deliveries: one prepared statement for each combination of filters that has been asked for. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  DeliveryPage,
  DeliveryQuery,
  DeliveryStatus,
} from '../../domain/webhook/webhook-delivery.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import type { Statement, Take } from '../sqlite/statement.ts';
import { DELIVERY_COLUMNS, deliveryOf } from './delivery-rows.ts';
import type { WebhookDeliveryRow } from './webhook-rows.ts';

interface Values extends Scope {
  readonly endpointId: string | undefined;
  readonly eventId: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** What makes one statement differ from another. */
interface Shape {
  readonly status: DeliveryStatus | undefined;
  readonly hasEndpoint: boolean;
  readonly hasEvent: boolean;
}

interface ListStatements {
  readonly rows: Statement<Values, WebhookDeliveryRow>;
  readonly total: Statement<Values, { readonly n: number }>;
}

/** Written out, because SQLite uses the index of failed deliveries only where the statement says `failed`. */
const STATUS_IS: Readonly<Record<DeliveryStatus, RawBuilder<boolean>>> = {
  pending: sql<boolean>`status = 'pending'`,
  succeeded: sql<boolean>`status = 'succeeded'`,
  failed: sql<boolean>`status = 'failed'`,
};

/** Answers list queries. Their shapes make 16 statements at most. */
export class DeliveryList {
  readonly #database: Database;
  readonly #prepared = new Map<string, ListStatements>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Newest first, ties by id. */
  list(scope: Scope, query: DeliveryQuery): DeliveryPage {
    const { status, endpointId, eventId, limit, offset } = query;
    const { accountId, environment } = scope;
    const values = { accountId, environment, endpointId, eventId, limit, offset };
    const shape = {
      status,
      hasEndpoint: endpointId !== undefined,
      hasEvent: eventId !== undefined,
    };
    const { rows, total } = this.#statementsFor(shape);
    return this.#database.read(() => ({
      deliveries: rows.all(values).map(deliveryOf),
      total: total.get(values)?.n ?? 0,
    }));
  }

  #statementsFor(shape: Shape): ListStatements {
    const name = JSON.stringify(shape);
    const prepared = this.#prepared.get(name) ?? prepareList(this.#database, shape);
    this.#prepared.set(name, prepared);
    return prepared;
  }
}

function prepareList(database: Database, shape: Shape): ListStatements {
  return {
    rows: database.prepare((take: Take<Values>) => selectPage(take, shape)),
    total: database.prepare((take: Take<Values>) => selectTotal(take, shape)),
  };
}

/** An event has few deliveries. Those of an endpoint are counted by triggers as they come, move on and go. */
function selectTotal(take: Take<Values>, shape: Shape) {
  if (shape.hasEvent) {
    return filtered(take, shape).select((expression) => expression.fn.countAll<number>().as('n'));
  }
  const which = [
    sql`account_id = ${take('accountId')} and environment = ${take('environment')}
      and deleted_at is null`,
    ...(shape.hasEndpoint ? [sql`id = ${take('endpointId')}`] : []),
  ];
  const counted = sql<{ n: number }>`(select coalesce(sum(deliveries), 0) as n from delivery_counts
    where endpoint_id in (select id from webhook_endpoints where ${sql.join(which, sql` and `)})
      and ${shape.status === undefined ? sql`true` : STATUS_IS[shape.status]})`;
  return build.selectFrom(counted.as('counted')).select('n');
}

/** The page's ids come from an index, so that most skipped rows are never read. */
function selectPage(take: Take<Values>, shape: Shape) {
  const page = filtered(take, shape)
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(take('limit'))
    .offset(take('offset'));
  return build
    .selectFrom('webhook_deliveries')
    .select(DELIVERY_COLUMNS)
    .where('id', 'in', page)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
}

/**
 * A delivery belongs to whom its endpoint belongs to. The `+` before a column keeps SQLite from walking that column's
 * index where another leads to fewer rows.
 */
function filtered(take: Take<Values>, { status, hasEndpoint, hasEvent }: Shape) {
  const own = sql`(select id from webhook_endpoints
    where account_id = ${take('accountId')} and environment = ${take('environment')}
      and deleted_at is null)`;
  const conditions: RawBuilder<boolean>[] = [];
  if (status !== undefined) conditions.push(STATUS_IS[status]);
  if (hasEvent) conditions.push(sql`event_id = ${take('eventId')}`);
  if (hasEvent || status === 'pending') {
    conditions.push(sql`+endpoint_id in ${own}`);
    if (hasEndpoint) conditions.push(sql`+endpoint_id = ${take('endpointId')}`);
  } else if (hasEndpoint && status !== 'failed') {
    conditions.push(sql`endpoint_id = (select id from ${own} where id = ${take('endpointId')})`);
  } else {
    conditions.push(sql`account_id = ${take('accountId')}`);
    conditions.push(sql`environment = ${take('environment')}`);
    if (hasEndpoint) conditions.push(sql`+endpoint_id = ${take('endpointId')}`);
    conditions.push(sql`+endpoint_id in ${own}`);
  }
  return conditions.reduce(
    (query, condition) => query.where(condition),
    build.selectFrom('webhook_deliveries'),
  );
}
