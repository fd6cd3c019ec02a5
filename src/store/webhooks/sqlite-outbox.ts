/** The outbox in SQLite: events become deliveries, deliveries fall due, and attempts are recorded. */
import { sql } from 'kysely';
import { ATTEMPTS_KEPT, PREVIOUS_SECRET_KEPT_MS } from '../../domain/account/account.ts';
import type { NewId } from '../../domain/ids.ts';
import type {
  AttemptResult,
  DueDelivery,
  Outbox,
  OutboxCounts,
  WaitingEndpoint,
} from '../../domain/webhook/webhook-delivery.ts';
import { DAY_MS, type Notifier } from '../../lib/clock.ts';
import { allOf, type Queries, SqliteStore } from '../queries.ts';
import { rowOf } from '../sqlite/rows.ts';
import { build, dateOf } from '../sqlite/schema.ts';
import { newDelivery } from './sqlite-delivery-store.ts';

/** Name of the deliverer's position in the event log, in the table of cursors. */
const CURSOR = 'webhooks';

/** Failed deliveries in a row after which an endpoint is disabled … */
const FAILURES_MAX = 10;

/** … and least age of the first of them. */
const FAILING_MS_MAX = 7 * DAY_MS;

/** Deliveries that one transaction ends: a few milliseconds, because calls share the thread. */
const ENDED_MAX = 500;

/** Pending deliveries among which the oldest is looked for: a few milliseconds. */
const LOOKED_AT_MAX = 10_000;

/** Literal, because it is the condition of the index `deliveries_due`. */
const IS_PENDING = sql<boolean>`delivery.status = 'pending'`;

/** Keeps the outbox in SQLite. */
export class SqliteOutbox extends SqliteStore implements Outbox {
  readonly notifier: Notifier;
  readonly #newId: NewId;

  /** @param parts.notifier Notifies when events were written or deliveries made due. */
  constructor(database: Queries, parts: { readonly newId: NewId; readonly notifier: Notifier }) {
    super(database);
    this.notifier = parts.notifier;
    this.#newId = parts.newId;
  }

  /** Takes the write lock only for a write. */
  async fanOut({ limit, now }: { readonly limit: number; readonly now: Date }): Promise<number> {
    const hasWork =
      (await this.#newEvents(1)).length > 0 || (await this.database.get(strandedEndpoint()));
    if (!hasWork) return 0;
    return this.database.transaction(async (transaction) => {
      await transaction.run(endStranded(now));
      return this.#on(transaction).#fanOut(limit, now.getTime());
    });
  }

  async waiting(): Promise<readonly WaitingEndpoint[]> {
    const dueAtMs = sql<number | null>`(select min(next_attempt_at)
      from webhook_deliveries as delivery
      where ${IS_PENDING} and delivery.endpoint_id = endpoint.id)`;
    const waiting = build
      .selectFrom('webhook_endpoints as endpoint')
      .select(['endpoint.id as endpointId', dueAtMs.as('dueAtMs')])
      .where('endpoint.status', '=', 'active');
    const sorted = build
      .selectFrom(waiting.as('waiting'))
      .selectAll()
      .where('dueAtMs', 'is not', null)
      .orderBy('dueAtMs');
    return allOf(this.database, sorted, ({ endpointId, dueAtMs }) => ({
      endpointId,
      dueAt: new Date(dueAtMs ?? 0),
    }));
  }

  async due(
    endpointId: string,
    options: Parameters<Outbox['due']>[1],
  ): Promise<readonly DueDelivery[]> {
    const query = selectDue(endpointId, options);
    return allOf(this.database, query, ({ preparedSecret, previousSecret, ...delivery }) => ({
      ...delivery,
      otherSecrets: [preparedSecret, previousSecret].filter((secret) => secret !== null),
    }));
  }

  async record(results: readonly AttemptResult[], now: Date): Promise<readonly string[]> {
    return this.database.transaction(async (transaction) => {
      const outbox = this.#on(transaction);
      const disabled: string[] = [];
      for (const result of results) {
        const endpointId = await outbox.#record(result, now);
        if (endpointId !== undefined) disabled.push(endpointId);
      }
      if (disabled.length > 0) await transaction.run(endStranded(now));
      return disabled;
    });
  }

  async hurry({ now, latest }: Parameters<Outbox['hurry']>[0]): Promise<void> {
    await this.database.run(
      build
        .updateTable('webhook_deliveries as delivery')
        .set({ next_attempt_at: now.getTime() })
        .where(IS_PENDING)
        .where('next_attempt_at', '>', latest.getTime()),
    );
  }

  /** With more than 10,000 pending deliveries `oldestAt` is the oldest of that many. */
  async counts(): Promise<OutboxCounts> {
    const pending = build
      .selectFrom('delivery_counts')
      .select(sql<number>`coalesce(sum(deliveries), 0)`.as('n'))
      .where('status', '=', 'pending');
    const some = build
      .selectFrom('webhook_deliveries as delivery')
      .select('created_at')
      .where(IS_PENDING)
      .limit(LOOKED_AT_MAX);
    const oldest = build
      .selectFrom(some.as('some'))
      .select((expression) => expression.fn.min('created_at').as('at'));
    return {
      pending: (await this.database.get(pending))?.n ?? 0,
      oldestAt: dateOf((await this.database.get(oldest))?.at),
    };
  }

  #on(transaction: Queries): SqliteOutbox {
    return new SqliteOutbox(transaction, { newId: this.#newId, notifier: this.notifier });
  }

  /** Makes the deliveries of the next events. @returns how many events were looked at. */
  async #fanOut(limit: number, nowMs: number): Promise<number> {
    const positions = await this.#newEvents(limit);
    const upTo = positions.at(-1);
    if (upTo === undefined) return 0;
    for (const pair of await this.database.all(selectPairs(await this.#cursor(), upTo))) {
      await this.database.run(newDelivery({ id: this.#newId('dlv'), ...pair }, nowMs));
    }
    const cursor = { name: CURSOR, position: upTo };
    await this.database.run(build.replaceInto('outbox_cursors').values(cursor));
    return positions.length;
  }

  /** Positions of the events that have no deliveries yet. */
  async #newEvents(limit: number): Promise<readonly number[]> {
    const query = build
      .selectFrom('events')
      .select('position')
      .where('position', '>', await this.#cursor())
      .orderBy('position')
      .limit(limit);
    return allOf(this.database, query, ({ position }) => position);
  }

  async #cursor(): Promise<number> {
    const query = build.selectFrom('outbox_cursors').select('position').where('name', '=', CURSOR);
    return (await this.database.get(query))?.position ?? 0;
  }

  /** @returns the endpoint's id when it was disabled because of this result. */
  async #record({ deliveryId, attempt, isSuccess, nextAttemptAt }: AttemptResult, now: Date) {
    const isOver = isSuccess || nextAttemptAt === null;
    const update = build
      .updateTable('webhook_deliveries')
      .set({
        attempts: attempt.attempt,
        status: isSuccess ? 'succeeded' : isOver ? 'failed' : 'pending',
        next_attempt_at: isOver ? null : nextAttemptAt.getTime(),
        last_status_code: attempt.statusCode,
        last_error: attempt.error,
        finished_at: isOver ? Math.round(attempt.at.getTime() + attempt.durationMs) : null,
      })
      .where('id', '=', deliveryId)
      // A delivery that was resent meanwhile has another count of attempts: the late result is not its own.
      .where('attempts', '=', attempt.attempt - 1)
      .returning('endpoint_id');
    const endpointId = (await this.database.get(update))?.endpoint_id;
    if (endpointId === undefined) return undefined;
    await this.#addAttempt(deliveryId, attempt);
    await this.#noteAttempt(endpointId, attempt);
    if (isSuccess) await this.#forgive(endpointId);
    if (isSuccess || !isOver) return undefined;
    return (await this.#blame(endpointId, attempt.error ?? '', now)) ? endpointId : undefined;
  }

  /** A delivery that is resent over and over keeps its newest attempts. */
  async #addAttempt(deliveryId: string, attempt: AttemptResult['attempt']): Promise<void> {
    const row = {
      ...rowOf({ ...attempt, durationMs: Math.round(attempt.durationMs) }),
      delivery_id: deliveryId,
    };
    await this.database.run(build.insertInto('webhook_attempts').values(row));
    const surplus = build
      .selectFrom('webhook_attempts')
      .select('position')
      .where('delivery_id', '=', deliveryId)
      .orderBy('position', 'desc')
      .limit(1)
      .offset(ATTEMPTS_KEPT);
    const trim = build.deleteFrom('webhook_attempts').where('delivery_id', '=', deliveryId);
    await this.database.run(trim.where('position', '<=', surplus));
  }

  async #noteAttempt(
    endpointId: string,
    { at, statusCode, error }: AttemptResult['attempt'],
  ): Promise<void> {
    const last_attempt = JSON.stringify({ at: at.getTime(), statusCode, error });
    const note = build.updateTable('webhook_endpoints').set({ last_attempt });
    await this.database.run(note.where('id', '=', endpointId));
  }

  async #forgive(endpointId: string): Promise<void> {
    const none = { failures_in_row: 0, failing_since: null };
    const forgive = build.updateTable('webhook_endpoints').set(none);
    await this.database.run(forgive.where('id', '=', endpointId).where('failures_in_row', '>', 0));
  }

  /** Counts a delivery that failed for good. @returns whether the endpoint was disabled because of it. */
  async #blame(endpointId: string, error: string, now: Date): Promise<boolean> {
    const nowMs = now.getTime();
    const blame = build.updateTable('webhook_endpoints').set({
      failures_in_row: sql<number>`failures_in_row + 1`,
      failing_since: sql<number>`coalesce(failing_since, ${nowMs})`,
    });
    const failing = await this.database.get(
      blame.where('id', '=', endpointId).returning(['status', 'failures_in_row', 'failing_since']),
    );
    if (failing === undefined || !isHopeless(failing, nowMs)) return false;
    const disabled = {
      status: 'disabled',
      disabled_reason: reasonOf(failing, error),
      updated_at: nowMs,
    } as const;
    const disable = build.updateTable('webhook_endpoints').set(disabled);
    await this.database.run(disable.where('id', '=', endpointId));
    return true;
  }
}

/** Due deliveries of one endpoint, with URL, body and secrets. */
function selectDue(endpointId: string, { now, limit, except }: Parameters<Outbox['due']>[1]) {
  const signsUntil = now.getTime() - PREVIOUS_SECRET_KEPT_MS;
  return build
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events as event', 'event.id', 'delivery.event_id')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'delivery.endpoint_id')
    .innerJoin('signing_secrets as keys', (join) =>
      join
        .onRef('keys.account_id', '=', 'endpoint.account_id')
        .onRef('keys.environment', '=', 'endpoint.environment'),
    )
    .select([
      'delivery.id',
      'delivery.endpoint_id as endpointId',
      'delivery.event_id as eventId',
      'endpoint.url',
      'event.body',
      sql<number>`delivery.attempts + 1`.as('attempt'),
      'keys.secret',
      'keys.prepared_secret as preparedSecret',
      sql<string | null>`case when keys.rotated_at > ${signsUntil}
        then keys.previous_secret end`.as('previousSecret'),
    ])
    .where(IS_PENDING)
    .where('delivery.endpoint_id', '=', endpointId)
    .where('delivery.next_attempt_at', '<=', now.getTime())
    .where('delivery.id', 'not in', except)
    .where('endpoint.status', '=', 'active')
    .orderBy('delivery.next_attempt_at')
    .orderBy('delivery.id')
    .limit(limit);
}

/** Each event with each endpoint that listens to it and has no delivery of it yet. */
function selectPairs(after: number, upTo: number) {
  return build
    .selectFrom('events as event')
    .innerJoin('webhook_endpoints as endpoint', (join) =>
      join
        .onRef('endpoint.account_id', '=', 'event.account_id')
        .onRef('endpoint.environment', '=', 'event.environment')
        .onRef('endpoint.after_position', '<', 'event.position'),
    )
    .select(['event.id as eventId', 'endpoint.id as endpointId'])
    .where('event.position', '>', after)
    .where('event.position', '<=', upTo)
    .where('event.kind', '<>', 'webhook.test')
    .where('endpoint.status', '=', 'active')
    .where(sql<boolean>`event.kind in (select value from json_each(endpoint.events))`)
    .where(
      sql<boolean>`not exists (select 1 from webhook_deliveries
        where event_id = event.id and endpoint_id = endpoint.id)`,
    )
    .orderBy('event.position')
    .orderBy('endpoint.created_at');
}

/** A disabled or deleted endpoint with pending deliveries. */
function strandedEndpoint() {
  return build
    .selectFrom('webhook_endpoints as endpoint')
    .select('endpoint.id')
    .where('endpoint.status', '=', sql.lit('disabled'))
    .where(
      sql<boolean>`exists (select 1 from webhook_deliveries
        where endpoint_id = endpoint.id and status = 'pending')`,
    )
    .limit(1);
}

/** Fails pending deliveries of disabled and deleted endpoints, 500 at most; they can be resent by hand. */
function endStranded(now: Date) {
  return build
    .updateTable('webhook_deliveries')
    .set({
      status: 'failed',
      next_attempt_at: null,
      finished_at: now.getTime(),
      last_error: sql<string>`'Not sent: ' || coalesce((select disabled_reason
        from webhook_endpoints where id = endpoint_id), 'the endpoint is disabled')`,
    })
    .where(
      sql<boolean>`rowid in (select delivery.rowid from webhook_endpoints endpoint
        cross join webhook_deliveries delivery
          on delivery.endpoint_id = endpoint.id and delivery.status = 'pending'
        where endpoint.status = 'disabled' limit ${ENDED_MAX})`,
    );
}

interface Failing {
  readonly status: string;
  readonly failures_in_row: number;
  readonly failing_since: number | null;
}

function isHopeless({ status, failures_in_row, failing_since }: Failing, nowMs: number): boolean {
  const failingMs = nowMs - (failing_since ?? nowMs);
  return status === 'active' && failures_in_row >= FAILURES_MAX && failingMs >= FAILING_MS_MAX;
}

function reasonOf({ failures_in_row, failing_since }: Failing, lastError: string): string {
  const since = new Date(failing_since ?? 0).toISOString();
  return `disabled by the server because ${failures_in_row} deliveries in a row failed since ${since}; the newest: ${lastError}`;
}
