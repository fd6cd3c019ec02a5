/** Makes a delivery for each endpoint that listens to an event; runs inside the outbox's transactions. */
import { sql } from 'kysely';
import type { NewId } from '../domain/ids.ts';
import type { Database } from './database.ts';
import type { HeldDelivery } from './held-deliveries.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';

interface NewEvent {
  readonly position: number;
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly kind: string;
  readonly body: string;
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

/** What was made of a batch of events. */
interface Made {
  /** How many were looked at. */
  readonly events: number;
  /** Of the newest of them. */
  readonly position: number;
  readonly deliveries: readonly HeldDelivery[];
}

function prepareFanOut(database: Database) {
  return {
    events: database.prepare((take: Take<{ after: number; limit: number }>) =>
      build
        .selectFrom('events')
        .select(['position', 'id', 'account_id', 'environment', 'kind', 'body'])
        .where('position', '>', take('after'))
        .orderBy('position')
        .limit(take('limit')),
    ),
    listeners: database.prepare(selectListeners),
    made: database.prepare((take: Take<{ eventIds: string }>) =>
      build
        .selectFrom('webhook_deliveries')
        .select(['event_id', 'endpoint_id'])
        .where(sql<boolean>`event_id in (select value from json_each(${take('eventIds')}))`),
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

/** Turns events into deliveries, in the events' order. */
export class OutboxFanOut {
  readonly #statements: ReturnType<typeof prepareFanOut>;
  readonly #newId: NewId;

  constructor(database: Database, newId: NewId) {
    this.#statements = prepareFanOut(database);
    this.#newId = newId;
  }

  /** Makes the deliveries of the next events behind a position, save those that have a row. */
  read(options: { readonly after: number; readonly limit: number; readonly nowMs: number }): Made {
    const { after, limit, nowMs } = options;
    const events = this.#statements.events.all({ after, limit });
    if (events.length === 0) return { events: 0, position: after, deliveries: [] };
    return {
      events: events.length,
      position: events.at(-1)?.position ?? after,
      deliveries: this.#deliveriesOf(events, nowMs),
    };
  }

  #deliveriesOf(events: readonly NewEvent[], madeAtMs: number): readonly HeldDelivery[] {
    const listeners = this.#listenersTo(events);
    const made = this.#madeOf(events);
    const deliveries: HeldDelivery[] = [];
    for (const event of events) {
      if (event.kind === 'webhook.test') continue;
      const { id: eventId, position, body } = event;
      for (const listener of listeners.get(scopeOf(event)) ?? []) {
        const { id: endpointId, kinds, afterPosition } = listener;
        if (!kinds.has(event.kind) || position <= afterPosition) continue;
        if (made.has(pairOf(eventId, endpointId))) continue;
        deliveries.push({ id: this.#newId('dlv'), position, endpointId, eventId, body, madeAtMs });
      }
    }
    return deliveries;
  }

  /** Rows are written ahead of the cursor: a process that died may have left some. */
  #madeOf(events: readonly NewEvent[]): ReadonlySet<string> {
    const eventIds = JSON.stringify(events.map(({ id }) => id));
    const rows = this.#statements.made.all({ eventIds });
    return new Set(rows.map(({ event_id, endpoint_id }) => pairOf(event_id, endpoint_id)));
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

function pairOf(eventId: string, endpointId: string): string {
  return `${eventId} ${endpointId}`;
}

function scopeOf(of: Pick<NewEvent, 'account_id' | 'environment'>): string {
  return `${of.account_id} ${of.environment}`;
}

function listenerOf(row: ListenerRow): Listener {
  const kinds = new Set(JSON.parse(row.events) as readonly string[]);
  return { id: row.id, kinds, afterPosition: row.after_position };
}
