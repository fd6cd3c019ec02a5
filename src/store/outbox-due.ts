/** Finds the deliveries that are due, so that no endpoint's backlog stands in the way of another's. */
import { sql } from 'kysely';
import { PREVIOUS_SECRET_KEPT_MS } from '../domain/account.ts';
import type { DueDelivery, OutboxCounts } from '../domain/outbox.ts';
import type { Database } from './database.ts';
import { dateOf } from './instant.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';

/** To look for the oldest among more than these would hold up the conversations on the same thread. */
const LOOKED_AT_MAX = 100_000;

interface DueValues {
  readonly now: number;
  readonly limit: number;
  readonly perEndpoint: number;
  /** JSON lists of ids. */
  readonly exceptEndpoints: string;
  readonly except: string;
}

interface DueRow {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly body: string;
}

interface ReceiverValues {
  /** JSON list of ids of endpoints. */
  readonly ids: string;
  /** A secret that was rotated out before this no longer signs. */
  readonly rotatedAfter: number;
}

/** What every delivery to an endpoint has in common. */
interface ReceiverRow {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly previousSecret: string | null;
}

/**
 * Every endpoint with something pending, one index seek each, however long its backlog.
 *
 * The index begins with the endpoint, and SQLite finds the least value behind another one by a seek.
 */
const WAITING = sql`waiting(endpoint_id) as (
  select min(endpoint_id) from webhook_deliveries where status = 'pending'
  union all
  select (select min(endpoint_id) from webhook_deliveries
    where status = 'pending' and endpoint_id > waiting.endpoint_id)
  from waiting where waiting.endpoint_id is not null)`;

/** The earliest of each endpoint, those on their way included: they take up the endpoint's room. */
function selectEarliest(take: Take<DueValues>) {
  return sql`with recursive ${WAITING}
    select delivery.id, delivery.endpoint_id, delivery.event_id, delivery.attempts,
      delivery.next_attempt_at
    from waiting
    cross join webhook_deliveries delivery on delivery.rowid in (
      select earliest.rowid from webhook_deliveries earliest
      where earliest.endpoint_id = waiting.endpoint_id and earliest.status = 'pending'
        and earliest.next_attempt_at <= ${take('now')}
      order by earliest.next_attempt_at, earliest.id limit ${take('perEndpoint')})
    where waiting.endpoint_id not in (select value from json_each(${take('exceptEndpoints')}))
      and delivery.id not in (select value from json_each(${take('except')}))
    order by delivery.next_attempt_at, delivery.id limit ${take('limit')}`;
}

function selectDue(take: Take<DueValues>) {
  const selected = sql<DueRow>`(
    select earliest.id, earliest.endpoint_id as "endpointId", earliest.event_id as "eventId",
      earliest.attempts, event.body
    from (${selectEarliest(take)}) earliest
    cross join events event on event.id = earliest.event_id
    order by earliest.next_attempt_at, earliest.id)`;
  return build.selectFrom(selected.as('due')).selectAll();
}

/** Read once for all deliveries of an endpoint, and anew each time: endpoints are disabled and secrets rotated. */
function selectReceivers(take: Take<ReceiverValues>) {
  const selected = sql<ReceiverRow>`(
    select endpoint.id, endpoint.url, keys.secret,
      case when keys.rotated_at > ${take('rotatedAfter')} then keys.previous_secret end
        as "previousSecret"
    from json_each(${take('ids')}) wanted
    cross join webhook_endpoints endpoint on endpoint.id = wanted.value
    cross join signing_secrets keys on keys.account_id = endpoint.account_id
      and keys.environment = endpoint.environment
    where endpoint.status = 'active')`;
  return build.selectFrom(selected.as('receiver')).selectAll();
}

function prepareDue(database: Database) {
  return {
    due: database.prepare(selectDue),
    receivers: database.prepare(selectReceivers),
    next: database.prepare(() =>
      build
        .selectFrom(
          sql<{ at: number | null }>`(with recursive ${WAITING}
            select min((select min(next_attempt_at) from webhook_deliveries
              where status = 'pending' and endpoint_id = waiting.endpoint_id)) as at
            from waiting)`.as('next'),
        )
        .selectAll(),
    ),
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

/** Reads what waits in the outbox. */
export class OutboxDue {
  readonly #statements: ReturnType<typeof prepareDue>;

  constructor(database: Database) {
    this.#statements = prepareDue(database);
  }

  find(options: {
    readonly now: Date;
    readonly limit: number;
    readonly perEndpoint: number;
    readonly exceptEndpoints: readonly string[];
    readonly except: ReadonlySet<string>;
  }): readonly DueDelivery[] {
    const now = options.now.getTime();
    const rows = this.#statements.due.all({
      now,
      limit: options.limit,
      perEndpoint: options.perEndpoint,
      exceptEndpoints: JSON.stringify(options.exceptEndpoints),
      except: JSON.stringify([...options.except]),
    });
    if (rows.length === 0) return [];
    const receivers = this.#receiversOf(rows, now - PREVIOUS_SECRET_KEPT_MS);
    return rows.flatMap(({ attempts, ...delivery }) => {
      const receiver = receivers.get(delivery.endpointId);
      if (receiver === undefined) return [];
      const { url, secret, previousSecret } = receiver;
      return { ...delivery, attempt: attempts + 1, url, secret, previousSecret };
    });
  }

  #receiversOf(rows: readonly DueRow[], rotatedAfter: number): ReadonlyMap<string, ReceiverRow> {
    const ids = JSON.stringify([...new Set(rows.map(({ endpointId }) => endpointId))]);
    const receivers = this.#statements.receivers.all({ ids, rotatedAfter });
    return new Map(receivers.map((receiver) => [receiver.id, receiver]));
  }

  nextAt(): Date | null {
    return dateOf(this.#statements.next.get({})?.at);
  }

  /** With more than 100,000 deliveries `oldestAt` is the oldest of so many. */
  counts(): OutboxCounts {
    const { pending = 0, oldest = null } = this.#statements.counts.get({}) ?? {};
    const made = oldest === null ? undefined : this.#statements.madeAt.get({ id: oldest });
    return { pending, oldestAt: dateOf(made?.created_at) };
  }
}
