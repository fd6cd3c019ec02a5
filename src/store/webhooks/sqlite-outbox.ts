/** The outbox in SQLite: events become deliveries, deliveries fall due, and attempts are recorded. */
import { sql } from 'kysely';
import type { NewId } from '../../domain/ids.ts';
import type {
  AttemptResult,
  DueDelivery,
  Outbox,
  OutboxCounts,
  WaitingEndpoint,
} from '../../domain/webhook/outbox.ts';
import type { DeliveryAttempt } from '../../domain/webhook/webhook-delivery.ts';
import type { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { ATTEMPT_COLUMNS } from './delivery-rows.ts';
import { dueAtOnce, insertDelivery, type Outcome } from './new-delivery.ts';
import { OutboxDue } from './outbox-due.ts';
import { OutboxEndpoints } from './outbox-endpoints.ts';
import type { WebhookAttemptRow } from './webhook-rows.ts';

const OUTCOME_COLUMNS = [
  'attempts',
  'status',
  'next_attempt_at',
  'last_status_code',
  'last_error',
  'finished_at',
] as const satisfies readonly (keyof Outcome)[];

function prepareResults(database: Database) {
  return {
    /** A delivery that was sent again meanwhile has another count of attempts: the late result is not its own. */
    finish: database.prepare((take: Take<Outcome & { readonly before: number }>) =>
      build
        .updateTable('webhook_deliveries')
        .set({ ...takeAll(take, OUTCOME_COLUMNS) })
        .where('id', '=', take('id'))
        .where('attempts', '=', take('before'))
        .returning('endpoint_id'),
    ),
    addAttempt: database.prepare((take: Take<WebhookAttemptRow>) =>
      build.insertInto('webhook_attempts').values(takeAll(take, ATTEMPT_COLUMNS)),
    ),
  };
}

/** Keeps the outbox in SQLite. */
export class SqliteOutbox implements Outbox {
  readonly bell: Notifier;
  readonly #database: Database;
  readonly #fanOut: OutboxFanOut;
  readonly #due: OutboxDue;
  readonly #endpoints: OutboxEndpoints;
  readonly #results: ReturnType<typeof prepareResults>;

  /** @param parts.bell Rings when events were written or deliveries made due. */
  constructor(database: Database, parts: { readonly newId: NewId; readonly bell: Notifier }) {
    this.bell = parts.bell;
    this.#database = database;
    this.#fanOut = new OutboxFanOut(database, parts.newId);
    this.#due = new OutboxDue(database);
    this.#endpoints = new OutboxEndpoints(database);
    this.#results = prepareResults(database);
  }

  /** Takes the write lock only when there is something to write. */
  fanOut({ limit, now }: { readonly limit: number; readonly now: Date }): number {
    const hasWork = this.#database.read(
      () => this.#fanOut.hasEvents || this.#endpoints.hasStranded,
    );
    if (!hasWork) return 0;
    return this.#database.write(() => {
      this.#endpoints.endStranded(now.getTime());
      return this.#fanOut.run(limit, now.getTime());
    });
  }

  waiting(): readonly WaitingEndpoint[] {
    return this.#database.read(() => this.#due.waiting());
  }

  due(endpointId: string, options: Parameters<Outbox['due']>[1]): readonly DueDelivery[] {
    return this.#database.read(() => this.#due.find(endpointId, options));
  }

  record(results: readonly AttemptResult[], now: Date): readonly string[] {
    const nowMs = now.getTime();
    return this.#database.write(() => {
      const disabled = results.flatMap((result) => this.#record(result, nowMs) ?? []);
      if (disabled.length > 0) this.#endpoints.endStranded(nowMs);
      return disabled;
    });
  }

  counts(): OutboxCounts {
    return this.#database.read(() => this.#due.counts());
  }

  /** @returns the endpoint's id when it was disabled because of this result. */
  #record(result: AttemptResult, nowMs: number): string | undefined {
    const outcome = outcomeOf(result);
    const before = outcome.attempts - 1;
    const endpointId = this.#results.finish.get({ ...outcome, before })?.endpoint_id;
    if (endpointId === undefined) return undefined;
    this.#results.addAttempt.run(attemptRowOf(result.deliveryId, result.attempt));
    if (result.isSuccess) this.#endpoints.succeeded(endpointId);
    if (outcome.status !== 'failed') return undefined;
    const isDisabled = this.#endpoints.failed(endpointId, result.attempt.error ?? '', nowMs);
    return isDisabled ? endpointId : undefined;
  }
}

function outcomeOf({ deliveryId, attempt, isSuccess, nextAttemptAt }: AttemptResult): Outcome {
  const endedAtMs = attempt.at.getTime() + attempt.durationMs;
  const isOver = isSuccess || nextAttemptAt === null;
  const failed = nextAttemptAt === null ? 'failed' : 'pending';
  return {
    id: deliveryId,
    attempts: attempt.attempt,
    status: isSuccess ? 'succeeded' : failed,
    next_attempt_at: isSuccess ? null : (nextAttemptAt?.getTime() ?? null),
    last_status_code: attempt.statusCode,
    last_error: attempt.error,
    finished_at: isOver ? Math.round(endedAtMs) : null,
  };
}

function attemptRowOf(deliveryId: string, attempt: DeliveryAttempt): WebhookAttemptRow {
  return {
    delivery_id: deliveryId,
    attempt: attempt.attempt,
    at: attempt.at.getTime(),
    duration_ms: Math.round(attempt.durationMs),
    status_code: attempt.statusCode,
    error: attempt.error,
    response_text: attempt.responseText,
  };
}

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
class OutboxFanOut {
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
