/** Makes a delivery for each endpoint that listens to an event; runs inside the outbox's transactions. */
import { sql } from 'kysely';
import type { NewId } from '../../domain/ids.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';
import { dueAtOnce, insertDelivery } from './new-delivery.ts';

/** Name of the deliverer's position in the event log, in the table of cursors. */
const CURSOR = 'webhooks';

interface Span {
  readonly after: number;
  readonly upTo: number;
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
    positions: database.prepare((take: Take<{ after: number; limit: number }>) =>
      build
        .selectFrom('events')
        .select('position')
        .where('position', '>', take('after'))
        .orderBy('position')
        .limit(take('limit')),
    ),
    pairs: database.prepare(selectPairs),
    add: database.prepare(insertDelivery),
  };
}

/** Each event with each endpoint that listens to it and has no delivery of it yet. */
function selectPairs(take: Take<Span>) {
  return build
    .selectFrom('events as event')
    .crossJoin('webhook_endpoints as endpoint')
    .select(['event.id as eventId', 'endpoint.id as endpointId'])
    .where('event.position', '>', take('after'))
    .where('event.position', '<=', take('upTo'))
    .where('event.kind', '<>', 'webhook.test')
    .whereRef('endpoint.account_id', '=', 'event.account_id')
    .whereRef('endpoint.environment', '=', 'event.environment')
    .whereRef('endpoint.after_position', '<', 'event.position')
    .where('endpoint.status', '=', 'active')
    .where(sql<boolean>`event.kind in (select value from json_each(endpoint.events))`)
    .where(
      sql<boolean>`not exists (select 1 from webhook_deliveries
        where event_id = event.id and endpoint_id = endpoint.id)`,
    )
    .orderBy('event.position')
    .orderBy('endpoint.created_at');
}

/** Turns events into deliveries, in the events' order. */
export class OutboxFanOut {
  readonly #statements: ReturnType<typeof prepareFanOut>;
  readonly #newId: NewId;

  constructor(database: Database, newId: NewId) {
    this.#statements = prepareFanOut(database);
    this.#newId = newId;
  }

  /** Whether events were written that have no deliveries yet. */
  get hasEvents(): boolean {
    return this.#positionsAfter(this.#cursor, 1).length > 0;
  }

  /** Makes the deliveries of the next events. @returns how many events were looked at. */
  run(limit: number, nowMs: number): number {
    const after = this.#cursor;
    const positions = this.#positionsAfter(after, limit);
    const upTo = positions.at(-1);
    if (upTo === undefined) return 0;
    for (const pair of this.#statements.pairs.all({ after, upTo })) {
      const outcome = dueAtOnce(this.#newId('dlv'), nowMs);
      this.#statements.add.run({ ...outcome, ...pair, madeAtMs: nowMs });
    }
    this.#statements.moveCursor.run({ position: upTo });
    return positions.length;
  }

  get #cursor(): number {
    return this.#statements.cursor.get({})?.position ?? 0;
  }

  #positionsAfter(after: number, limit: number): readonly number[] {
    return this.#statements.positions.all({ after, limit }).map(({ position }) => position);
  }
}
