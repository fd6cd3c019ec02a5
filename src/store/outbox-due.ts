/** Finds the deliveries that are due, so that no endpoint's backlog stands in the way of another's. */
import { sql } from 'kysely';
import { PREVIOUS_SECRET_KEPT_MS } from '../domain/account.ts';
import type { DueDelivery, Outbox, OutboxCounts } from '../domain/outbox.ts';
import type { Database } from './database.ts';
import type { HeldDeliveries, HeldDelivery } from './held-deliveries.ts';
import { dateOf } from './instant.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';

/** To look for the oldest among more than these would hold up the conversations on the same thread. */
const LOOKED_AT_MAX = 100_000;

type DueOptions = Parameters<Outbox['due']>[0];

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
  readonly dueAtMs: number;
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
      earliest.attempts, event.body, earliest.next_attempt_at as "dueAtMs"
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
  readonly #held: HeldDeliveries;

  constructor(database: Database, held: HeldDeliveries) {
    this.#statements = prepareDue(database);
    this.#held = held;
  }

  find(options: DueOptions): readonly DueDelivery[] {
    const now = options.now.getTime();
    const written = this.#statements.due.all({
      now,
      limit: options.limit,
      perEndpoint: options.perEndpoint,
      exceptEndpoints: JSON.stringify(options.exceptEndpoints),
      except: JSON.stringify([...options.except]),
    });
    const rows = earliestOf([...written, ...this.#held.all.map(dueRowOf)], options);
    if (rows.length === 0) return [];
    const receivers = this.#receiversOf(rows, now - PREVIOUS_SECRET_KEPT_MS);
    return rows.flatMap(({ attempts, dueAtMs: _, ...delivery }) => {
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
    return dateOf(earlierOf(this.#held.oldestAtMs, this.#statements.next.get({})?.at));
  }

  /** With more than 100,000 deliveries `oldestAt` is the oldest of so many. */
  counts(): OutboxCounts {
    const { pending = 0, oldest = null } = this.#statements.counts.get({}) ?? {};
    const made = oldest === null ? undefined : this.#statements.madeAt.get({ id: oldest });
    return {
      pending: pending + this.#held.size,
      oldestAt: dateOf(earlierOf(this.#held.oldestAtMs, made?.created_at)),
    };
  }
}

function earlierOf(
  oneMs: number | undefined,
  otherMs: number | null | undefined,
): number | null | undefined {
  return oneMs === undefined || (otherMs != null && otherMs < oneMs) ? otherMs : oneMs;
}

function dueRowOf({ madeAtMs, ...delivery }: HeldDelivery): DueRow {
  return { ...delivery, attempts: 0, dueAtMs: madeAtMs };
}

/** The share of an endpoint counts what is held and on its way, as `selectEarliest` counts rows. */
function earliestOf(
  rows: DueRow[],
  { limit, perEndpoint, exceptEndpoints, except }: DueOptions,
): readonly DueRow[] {
  const left = new Map(exceptEndpoints.map((endpointId) => [endpointId, 0]));
  const found: DueRow[] = [];
  for (const row of rows.sort((one, other) => one.dueAtMs - other.dueAtMs)) {
    const room = left.get(row.endpointId) ?? perEndpoint;
    if (room === 0) continue;
    left.set(row.endpointId, room - 1);
    if (!except.has(row.id)) found.push(row);
    if (found.length === limit) break;
  }
  return found;
}
