/** Makes a delivery for each endpoint that listens to an event; runs inside the outbox's transactions. */
import { sql } from 'kysely';
import type { NewId } from '../domain/ids.ts';
import type { Database } from './database.ts';
import { build } from './schema.ts';
import { type Take, takeAll } from './statement.ts';
import type { WebhookDeliveryRow } from './webhook-rows.ts';

/** The outbox's reader that makes deliveries, in the table of cursors. */
const CURSOR = 'webhooks';

interface NewEvent {
  readonly position: number;
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly kind: string;
  readonly created_at: number;
}

interface Listener {
  readonly id: string;
  readonly kinds: ReadonlySet<string>;
  /** The newest event when the endpoint was made: it listens to later ones. */
  readonly afterPosition: number;
}

interface ListenerRow {
  readonly id: string;
  readonly events: string;
  readonly after_position: number;
}

/** The columns of a delivery that was never attempted; the others are the same for all. */
const NEW_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'endpoint_id',
  'event_id',
  'event_kind',
  'event_at',
  'created_at',
] as const satisfies readonly (keyof WebhookDeliveryRow)[];

type NewDelivery = Pick<WebhookDeliveryRow, (typeof NEW_COLUMNS)[number]>;

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
        .select(['position', 'id', 'account_id', 'environment', 'kind', 'created_at'])
        .where('position', '>', take('after'))
        .orderBy('position')
        .limit(take('limit')),
    ),
    listeners: database.prepare((take: Take<{ accountId: string; environment: string }>) =>
      build
        .selectFrom('webhook_endpoints')
        .select(['id', 'events', 'after_position'])
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where('status', '=', 'active')
        .orderBy('created_at')
        .orderBy('id'),
    ),
    insert: database.prepare((take: Take<NewDelivery>) =>
      build.insertInto('webhook_deliveries').values({
        ...takeAll(take, NEW_COLUMNS),
        status: sql.lit('pending'),
        attempts: sql.lit(0),
        next_attempt_at: take('created_at'),
      }),
    ),
  };
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
    const known = new Map<string, readonly Listener[]>();
    for (const event of events) {
      if (event.kind === 'webhook.test') continue;
      for (const listener of this.#listenersOf(event, known)) {
        if (!listener.kinds.has(event.kind) || event.position <= listener.afterPosition) continue;
        this.#statements.insert.run(this.#deliveryRow(event, listener.id, nowMs));
      }
    }
    const newest = events.at(-1);
    if (newest !== undefined) this.#statements.moveCursor.run({ position: newest.position });
    return events.length;
  }

  get #position(): number {
    return this.#statements.cursor.get({})?.position ?? 0;
  }

  #listenersOf(event: NewEvent, known: Map<string, readonly Listener[]>): readonly Listener[] {
    const { account_id: accountId, environment } = event;
    const scope = `${accountId} ${environment}`;
    const listeners =
      known.get(scope) ??
      this.#statements.listeners.all({ accountId, environment }).map(listenerOf);
    known.set(scope, listeners);
    return listeners;
  }

  #deliveryRow(event: NewEvent, endpointId: string, nowMs: number): NewDelivery {
    return {
      id: this.#newId('dlv'),
      account_id: event.account_id,
      environment: event.environment,
      endpoint_id: endpointId,
      event_id: event.id,
      event_kind: event.kind,
      event_at: event.created_at,
      created_at: nowMs,
    };
  }
}

function listenerOf(row: ListenerRow): Listener {
  const kinds = new Set(JSON.parse(row.events) as readonly string[]);
  return { id: row.id, kinds, afterPosition: row.after_position };
}
