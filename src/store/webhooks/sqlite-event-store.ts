/** The outbox's events in SQLite: written beside what they tell, read by call and as a ledger. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  EventQuery,
  EventStore,
  LedgerPage,
  ServiceEvent,
} from '../../domain/webhook/service-event.ts';
import { Notifier } from '../../lib/clock.ts';
import { eventOf, eventRowOf } from '../calls/call-rows.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type EventRow } from '../sqlite/schema.ts';
import { type Statement, type Take, takeAll } from '../sqlite/statement.ts';

const EVENT_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'kind',
  'call_id',
  'created_at',
  'body',
] as const satisfies readonly (keyof EventRow)[];

function prepareEvents(database: Database) {
  return {
    add: database.prepare((take: Take<EventRow>) =>
      build.insertInto('events').values(takeAll(take, EVENT_COLUMNS)),
    ),
    byCall: database.prepare((take: Take<{ id: string }>) =>
      build
        .selectFrom('events')
        .select(EVENT_COLUMNS)
        .where('call_id', '=', take('id'))
        .orderBy('position'),
    ),
  };
}

interface PageValues extends Scope {
  readonly afterPosition: number;
  readonly upToPosition: number;
  readonly limit: number;
  readonly kind: string | undefined;
  readonly callId: string | undefined;
  readonly createdFrom: number | undefined;
  readonly createdBefore: number | undefined;
}

const FILTERS = ['kind', 'callId', 'createdFrom', 'createdBefore'] as const;

type Filter = (typeof FILTERS)[number];

type PageRow = EventRow & { readonly position: number };

/**
 * Events that one page looks at, whatever its filters leave: a few milliseconds, because the thread that reads them also
 * holds the conversations.
 */
const LOOKED_AT_MAX = 10_000;

/** As the index `events_by_hour` has it. */
const HOUR = sql`created_at / 3600000`;

const HOUR_MS = 3_600_000;

function prepareBounds(database: Database) {
  return {
    /** The last event that a page may look at, and the one behind it. */
    horizon: database.prepare((take: Take<PageValues>) =>
      build
        .selectFrom('events')
        .select('position')
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where('position', '>', take('afterPosition'))
        .orderBy('position')
        .limit(2)
        .offset(LOOKED_AT_MAX - 1),
    ),
    firstSince: database.prepare((take: Take<{ hour: number }>) =>
      build
        .selectFrom(firstOfHours(take).as('first'))
        .select((expression) => expression.fn.min('first.position').as('position')),
    ),
  };
}

/**
 * The first event of each hour from one on, by two index seeks an hour: a millisecond for all that are kept. The hours
 * are looked at one by one because events are not in the order of their times: those of the sandbox lie ahead of the
 * clock, and clocks are set back.
 */
function firstOfHours(take: Take<{ hour: number }>): RawBuilder<{ position: number | null }> {
  const next = (from: RawBuilder<unknown>) =>
    sql`(select ${HOUR} from events where ${HOUR} ${from} order by ${HOUR} limit 1)`;
  return sql<{ position: number | null }>`(with recursive hours(hour) as (
      select ${next(sql`>= ${take('hour')}`)}
      union all select ${next(sql`> hour`)} from hours where hour is not null)
    select (select position from events where ${HOUR} = hour order by position limit 1) as position from hours)`;
}

/** Keeps events in SQLite. */
export class SqliteEventStore implements EventStore {
  /** Rings after events were written. */
  readonly bell = new Notifier();
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareEvents>;
  readonly #bounds: ReturnType<typeof prepareBounds>;
  readonly #pages = new Map<string, Statement<PageValues, PageRow>>();

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareEvents(database);
    this.#bounds = prepareBounds(database);
  }

  /** Writes events inside the transaction of the change that they tell. */
  add(events: readonly ServiceEvent[]): void {
    for (const event of events) this.#statements.add.run(eventRowOf(event));
    if (events.length > 0) this.bell.ring();
  }

  insertQuiet(event: ServiceEvent): void {
    this.#database.write(() => this.#statements.add.run(eventRowOf(event)));
  }

  listByCall(callId: string): readonly ServiceEvent[] {
    return this.#database.read(() => this.#statements.byCall.all({ id: callId })).map(eventOf);
  }

  page(scope: Scope, query: EventQuery): LedgerPage {
    return this.#database.read(() => this.#page(scope, query));
  }

  #page(scope: Scope, query: EventQuery): LedgerPage {
    const unbounded = {
      accountId: scope.accountId,
      environment: scope.environment,
      afterPosition: this.#start(query),
      upToPosition: Number.MAX_SAFE_INTEGER,
      limit: query.limit + 1,
      kind: query.kind,
      callId: query.callId,
      createdFrom: query.createdFrom?.getTime(),
      createdBefore: query.createdBefore?.getTime(),
    };
    // A call has few events, and an index that leads to them.
    const isSmall = query.callId !== undefined;
    const [horizon, behind] = isSmall ? [] : this.#bounds.horizon.all(unbounded);
    const values = horizon && behind ? { ...unbounded, upToPosition: horizon.position } : unbounded;
    const rows = this.#pageFor(values).all(values);
    const shown = rows.slice(0, query.limit);
    const last = shown.at(-1)?.position ?? query.afterPosition;
    if (rows.length > query.limit) {
      return { events: shown.map(eventOf), nextPosition: last, hasMore: true };
    }
    const isCut = values !== unbounded;
    const nextPosition = isCut ? values.upToPosition : last;
    return { events: shown.map(eventOf), nextPosition, hasMore: isCut };
  }

  /** A ledger that is read from its beginning begins at the first event of the hours asked for. */
  #start({ afterPosition, createdFrom }: EventQuery): number {
    if (afterPosition > 0 || createdFrom === undefined) return afterPosition;
    const values = { hour: Math.floor(createdFrom.getTime() / HOUR_MS) };
    const first = this.#bounds.firstSince.get(values)?.position ?? Number.MAX_SAFE_INTEGER;
    return first - 1;
  }

  #pageFor(values: PageValues): Statement<PageValues, PageRow> {
    const given = FILTERS.filter((filter) => values[filter] !== undefined);
    const prepared =
      this.#pages.get(given.join()) ??
      this.#database.prepare((take: Take<PageValues>) => selectPage(take, given));
    this.#pages.set(given.join(), prepared);
    return prepared;
  }
}

function selectPage(take: Take<PageValues>, given: readonly Filter[]) {
  const every = build
    .selectFrom('events')
    .select([...EVENT_COLUMNS, 'position'])
    .where('account_id', '=', take('accountId'))
    .where('environment', '=', take('environment'))
    .where('position', '>', take('afterPosition'))
    .where('position', '<=', take('upToPosition'))
    .where('kind', '<>', 'webhook.test');
  return given
    .reduce((query, filter) => query.where(conditionOf(filter, take)), every)
    .orderBy('position')
    .limit(take('limit'));
}

function conditionOf(filter: Filter, take: Take<PageValues>): RawBuilder<boolean> {
  switch (filter) {
    case 'kind':
      return sql`kind = ${take(filter)}`;
    case 'callId':
      return sql`call_id = ${take(filter)}`;
    case 'createdFrom':
      return sql`created_at >= ${take(filter)}`;
    case 'createdBefore':
      return sql`created_at < ${take(filter)}`;
    default:
      return filter satisfies never;
  }
}
