/** Finds deliveries that are due, endpoint by endpoint: the backlog of one is never read on the way to another's. */
import { sql } from 'kysely';
import { PREVIOUS_SECRET_KEPT_MS } from '../../domain/account/account.ts';
import type {
  DueDelivery,
  Outbox,
  OutboxCounts,
  WaitingEndpoint,
} from '../../domain/webhook/outbox.ts';
import type { Database } from '../sqlite/database.ts';
import { dateOf } from '../sqlite/instant.ts';
import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';

/** Deliveries among which the oldest is looked for: a few milliseconds. */
const LOOKED_AT_MAX = 100_000;

interface DueValues {
  readonly endpointId: string;
  readonly now: number;
  readonly limit: number;
  /** JSON list of ids. */
  readonly except: string;
  /** A secret that was replaced before this no longer signs. */
  readonly rotatedAfter: number;
}

/** The index `deliveries_due` begins with the endpoint: one seek an endpoint, however long its backlog. */
function selectWaiting() {
  const selected = sql<{ endpointId: string; dueAtMs: number }>`(
    with recursive waiting(endpoint_id) as (
      select min(endpoint_id) from webhook_deliveries where status = 'pending'
      union all
      select (select min(endpoint_id) from webhook_deliveries
        where status = 'pending' and endpoint_id > waiting.endpoint_id)
      from waiting where waiting.endpoint_id is not null)
    select endpoint_id as "endpointId", (select min(next_attempt_at) from webhook_deliveries
      where status = 'pending' and endpoint_id = waiting.endpoint_id) as "dueAtMs"
    from waiting where endpoint_id is not null)`;
  return build.selectFrom(selected.as('waiting')).selectAll().orderBy('dueAtMs');
}

function selectDue(take: Take<DueValues>) {
  return (
    build
      .selectFrom('webhook_deliveries as delivery')
      .crossJoin('events as event')
      .crossJoin('webhook_endpoints as endpoint')
      .crossJoin('signing_secrets as keys')
      .select([
        'delivery.id',
        'delivery.endpoint_id as endpointId',
        'delivery.event_id as eventId',
        'endpoint.url',
        'event.body',
        sql<number>`delivery.attempts + 1`.as('attempt'),
        'keys.secret',
        'keys.prepared_secret as preparedSecret',
        sql<string | null>`case when keys.rotated_at > ${take('rotatedAfter')}
        then keys.previous_secret end`.as('previousSecret'),
      ])
      .where('delivery.endpoint_id', '=', take('endpointId'))
      // Written out, because SQLite uses the index of pending deliveries only where the statement says so.
      .where(sql<boolean>`delivery.status = 'pending'`)
      .where('delivery.next_attempt_at', '<=', take('now'))
      .where(sql<boolean>`delivery.id not in (select value from json_each(${take('except')}))`)
      .whereRef('event.id', '=', 'delivery.event_id')
      .whereRef('endpoint.id', '=', 'delivery.endpoint_id')
      .where('endpoint.status', '=', 'active')
      .whereRef('keys.account_id', '=', 'endpoint.account_id')
      .whereRef('keys.environment', '=', 'endpoint.environment')
      .orderBy('delivery.next_attempt_at')
      .orderBy('delivery.id')
      .limit(take('limit'))
  );
}

function prepareDue(database: Database) {
  return {
    waiting: database.prepare(selectWaiting),
    due: database.prepare(selectDue),
    /** Triggers count. Ids begin with the time of their making, so the least one is the oldest. */
    counts: database.prepare(() =>
      build
        .selectFrom(
          sql<{ pending: number; oldest: string | null }>`(select
            (select coalesce(sum(deliveries), 0) from delivery_counts where status = 'pending') as pending,
            (select min(id) from (select id from webhook_deliveries
              where status = 'pending' limit ${sql.lit(LOOKED_AT_MAX)})) as oldest)`.as('counts'),
        )
        .selectAll(),
    ),
    madeAt: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('webhook_deliveries').select('created_at').where('id', '=', take('id')),
    ),
  };
}

/** Reads pending deliveries. */
export class OutboxDue {
  readonly #statements: ReturnType<typeof prepareDue>;

  constructor(database: Database) {
    this.#statements = prepareDue(database);
  }

  waiting(): readonly WaitingEndpoint[] {
    return this.#statements.waiting
      .all({})
      .map(({ endpointId, dueAtMs }) => ({ endpointId, dueAt: new Date(dueAtMs) }));
  }

  find(
    endpointId: string,
    { now, limit, except }: Parameters<Outbox['due']>[1],
  ): readonly DueDelivery[] {
    const rows = this.#statements.due.all({
      endpointId,
      now: now.getTime(),
      limit,
      except: JSON.stringify(except),
      rotatedAfter: now.getTime() - PREVIOUS_SECRET_KEPT_MS,
    });
    return rows.map(({ preparedSecret, previousSecret, ...delivery }) => ({
      ...delivery,
      otherSecrets: [preparedSecret, previousSecret].filter((secret) => secret !== null),
    }));
  }

  /** With more than 100,000 deliveries `oldestAt` is the oldest of that many. */
  counts(): OutboxCounts {
    const { pending = 0, oldest = null } = this.#statements.counts.get({}) ?? {};
    const made = oldest === null ? undefined : this.#statements.madeAt.get({ id: oldest });
    return { pending, oldestAt: dateOf(made?.created_at) };
  }
}
