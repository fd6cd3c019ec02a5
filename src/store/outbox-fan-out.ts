/** Makes a delivery for each endpoint that listens to an event; runs inside the outbox's transactions. */
import { sql } from 'kysely';
import type { NewId } from '../domain/ids.ts';
import type { Database } from './database.ts';
import { dueAtOnce, NEW_DELIVERY_COLUMNS } from './new-delivery.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';

/** The outbox's reader that makes deliveries, in the table of cursors. */
const CURSOR = 'webhooks';

interface NewEvent {
  readonly position: number;
  readonly account_id: string;
  readonly environment: string;
  readonly kind: string;
}

interface Listener {
  readonly id: string;
  readonly kinds: ReadonlySet<string>;
  /** The newest event when the endpoint was made: it listens to later ones. */
  readonly afterPosition: number;
}

interface ListenerRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly events: string;
  readonly after_position: number;
}

/** A delivery to make: its id, its event's position, and its endpoint's id. */
type Draft = readonly [id: string, position: number, endpointId: string];

interface Drafts {
  /** JSON list of drafts. */
  readonly drafts: string;
  readonly now: number;
}

function prepareFanOut(database: Database) {
  return {
    cursor: database.prepare(() =>
      build.selectFrom('outbox_cursors').select('position').where('name', '=', CURSOR),
    ),
    moveCursor: database.prepare((take: Take<{ position: number }>) =>
      build
        .insertInto('outbox_cursors')
        .orReplace()
        .values({ name: CURSOR, position: take('position') }),
    ),
    events: database.prepare((take: Take<{ after: number; limit: number }>) =>
      build
        .selectFrom('events')
        .select(['position', 'account_id', 'environment', 'kind'])
        .where('position', '>', take('after'))
        .orderBy('position')
        .limit(take('limit')),
    ),
    listeners: database.prepare(selectListeners),
    insert: database.prepare((take: Take<Drafts>) =>
      build
        .insertInto('webhook_deliveries')
        .columns(NEW_DELIVERY_COLUMNS)
        .expression(selectDrafted(take)),
    ),
  };
}

/** Those of all accounts that a batch has events of, in one statement: each has few. */
function selectListeners(take: Take<{ scopes: string }>) {
  const selected = sql<ListenerRow>`(
    select endpoint.id, endpoint.account_id, endpoint.environment, endpoint.events,
      endpoint.after_position
    from json_each(${take('scopes')}) scope
    cross join webhook_endpoints endpoint on endpoint.account_id = scope.value ->> 0
      and endpoint.environment = scope.value ->> 1
    where endpoint.status = 'active'
    order by scope.key, endpoint.created_at, endpoint.id)`;
  return build.selectFrom(selected.as('listener')).selectAll();
}

/** All rows of a batch in one statement: what the event knows is copied inside the database. Columns as in `NEW_DELIVERY_COLUMNS`. */
function selectDrafted(take: Take<Drafts>) {
  return build
    .selectFrom(sql<{ value: string }>`json_each(${take('drafts')})`.as('draft'))
    .crossJoin('events as event')
    .whereRef('event.position', '=', sql<number>`draft.value ->> 1`)
    .select([
      sql<string>`draft.value ->> 0`.as('id'),
      'event.account_id',
      'event.environment',
      sql<string>`draft.value ->> 2`.as('endpoint_id'),
      ...dueAtOnce(take('now')),
    ]);
}

/** Turns events into deliveries, in the events' order. */
export class OutboxFanOut {
  readonly #statements: ReturnType<typeof prepareFanOut>;
  readonly #newId: NewId;

  constructor(database: Database, newId: NewId) {
    this.#statements = prepareFanOut(database);
    this.#newId = newId;
  }

  /** Whether there are events that were not looked at. */
  get hasEvents(): boolean {
    return this.#statements.events.get({ after: this.#position, limit: 1 }) !== undefined;
  }

  /** @returns how many events were looked at. */
  run(limit: number, nowMs: number): number {
    const events = this.#statements.events.all({ after: this.#position, limit });
    const drafts = this.#draftsOf(events);
    if (drafts.length > 0) {
      this.#statements.insert.run({ drafts: JSON.stringify(drafts), now: nowMs });
    }
    const newest = events.at(-1);
    if (newest !== undefined) this.#statements.moveCursor.run({ position: newest.position });
    return events.length;
  }

  get #position(): number {
    return this.#statements.cursor.get({})?.position ?? 0;
  }

  #draftsOf(events: readonly NewEvent[]): readonly Draft[] {
    const listeners = this.#listenersTo(events);
    const drafts: Draft[] = [];
    for (const event of events) {
      if (event.kind === 'webhook.test') continue;
      for (const listener of listeners.get(scopeOf(event)) ?? []) {
        if (!listener.kinds.has(event.kind) || event.position <= listener.afterPosition) continue;
        drafts.push([this.#newId('dlv'), event.position, listener.id]);
      }
    }
    return drafts;
  }

  /** By scope, in the order of their making. */
  #listenersTo(events: readonly NewEvent[]): ReadonlyMap<string, readonly Listener[]> {
    const scopes = new Map(
      events.map((event) => [scopeOf(event), [event.account_id, event.environment]]),
    );
    const rows = this.#statements.listeners.all({ scopes: JSON.stringify([...scopes.values()]) });
    const listeners = new Map<string, Listener[]>();
    for (const row of rows) {
      const ofScope = listeners.get(scopeOf(row)) ?? [];
      ofScope.push(listenerOf(row));
      listeners.set(scopeOf(row), ofScope);
    }
    return listeners;
  }
}

function scopeOf(of: Pick<NewEvent, 'account_id' | 'environment'>): string {
  return `${of.account_id} ${of.environment}`;
}

function listenerOf(row: ListenerRow): Listener {
  const kinds = new Set(JSON.parse(row.events) as readonly string[]);
  return { id: row.id, kinds, afterPosition: row.after_position };
}
