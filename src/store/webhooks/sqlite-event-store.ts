/** The outbox's events in SQLite: written in the transaction of their change, read by call and as a ledger. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  EventQuery,
  EventStore,
  LedgerPage,
  ServiceEvent,
} from '../../domain/webhook/service-event.ts';
import type { Notifier } from '../../lib/clock.ts';
import { inScope, type Queries } from '../queries.ts';
import { type RowOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

/**
 * Events that one page looks at, however many its filters leave: a few milliseconds, because calls share the thread.
 */
const LOOKED_AT_MAX = 10_000;

/** As the index `events_by_hour` has it. */
const HOUR = sql`created_at / 3600000`;

const HOUR_MS = 3_600_000;

/** Keeps events in SQLite. */
export class SqliteEventStore implements EventStore {
  readonly #database: Queries;
  readonly #notifier: Notifier;

  /** @param notifier Notifies after events were written. */
  constructor(database: Queries, notifier: Notifier) {
    this.#database = database;
    this.#notifier = notifier;
  }

  /** Writes events inside the transaction of the change that caused them. */
  async add(events: readonly ServiceEvent[]): Promise<void> {
    for (const event of events) await this.insertQuiet(event);
    if (events.length > 0) this.#database.onCommit(() => this.#notifier.notify());
  }

  async insertQuiet(event: ServiceEvent): Promise<void> {
    await this.#database.run(build.insertInto('events').values(rowOf(event)));
  }

  async listByCall(callId: string): Promise<readonly ServiceEvent[]> {
    const query = build.selectFrom('events').selectAll().where('call_id', '=', callId);
    return (await this.#database.all(query.orderBy('position'))).map(eventOf);
  }

  async page(scope: Scope, query: EventQuery): Promise<LedgerPage> {
    const { limit, afterPosition } = query;
    const after = await this.#start(query);
    // A call has few events, and an index that leads to them.
    const horizon = query.callId === undefined ? await this.#horizon(scope, after) : undefined;
    const every = ledgerRows(scope, after);
    const filtered = filterEvents(horizon ? every.where('position', '<=', horizon) : every, query);
    const rows = await this.#database.all(filtered.orderBy('position').limit(limit + 1));
    const events = rows.slice(0, limit).map(eventOf);
    const last = rows.slice(0, limit).at(-1)?.position ?? afterPosition;
    if (rows.length > limit) return { events, nextPosition: last, hasMore: true };
    return { events, nextPosition: horizon ?? last, hasMore: horizon !== undefined };
  }

  /** A ledger that is read from its beginning starts at the first event since the hour of `createdFrom`. */
  async #start({ afterPosition, createdFrom }: EventQuery): Promise<number> {
    if (afterPosition > 0 || createdFrom === undefined) return afterPosition;
    const first = await this.#database.get(firstSince(Math.floor(createdFrom.getTime() / HOUR_MS)));
    return (first?.position ?? Number.MAX_SAFE_INTEGER) - 1;
  }

  /** Position of the last event that a page may examine; undefined when there are fewer. */
  async #horizon(scope: Scope, after: number): Promise<number | undefined> {
    const query = ledger(scope, after).select('position').orderBy('position').limit(2);
    const [last, behind] = await this.#database.all(query.offset(LOOKED_AT_MAX - 1));
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
 * The first event of each hour since one, by two index seeks an hour: a millisecond for all that are kept. Hours are
 * looked at one by one because events are not in the order of their times: those of the sandbox lie in the future,
 * and clocks are set back.
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

function eventOf(row: RowOf<ServiceEvent>): ServiceEvent {
  return recordOf<ServiceEvent>(row, { without: ['position'] });
}
