/** Counts failures of endpoints, disables those that fail for too long, and ends their pending deliveries; runs inside the outbox's transactions. */
import { sql } from 'kysely';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';

/** An endpoint is disabled when so many deliveries in a row failed for good … */
const FAILURES_MAX = 10;

/** … and the first of them was so long ago. */
const FAILING_MS_MAX = 7 * 86_400_000;

/** Deliveries that one transaction ends: a few milliseconds, because the thread also holds the conversations. */
const ENDED_MAX = 500;

interface Failing {
  readonly failures_in_row: number;
  readonly failing_since: number;
  readonly status: string;
}

function prepareEndpoints(database: Database) {
  return {
    forgive: database.prepare((take: Take<{ id: string }>) =>
      build
        .updateTable('webhook_endpoints')
        .set({ failures_in_row: 0, failing_since: null })
        .where('id', '=', take('id'))
        .where('failures_in_row', '>', 0),
    ),
    blame: database.prepare((take: Take<{ id: string; now: number }>) =>
      build
        .updateTable('webhook_endpoints')
        .set({
          failures_in_row: sql<number>`failures_in_row + 1`,
          failing_since: sql<number>`coalesce(failing_since, ${take('now')})`,
        })
        .where('id', '=', take('id'))
        .returning(['failures_in_row', sql<number>`failing_since`.as('failing_since'), 'status']),
    ),
    disable: database.prepare((take: Take<{ id: string; reason: string; now: number }>) =>
      build
        .updateTable('webhook_endpoints')
        .set({ status: 'disabled', disabled_reason: take('reason'), updated_at: take('now') })
        .where('id', '=', take('id')),
    ),
    hasStranded: database.prepare(() =>
      build
        .selectFrom('webhook_endpoints as endpoint')
        .select('endpoint.id')
        .where('endpoint.status', '<>', sql.lit('active'))
        .where(
          sql<boolean>`exists (select 1 from webhook_deliveries
            where endpoint_id = endpoint.id and status = 'pending')`,
        )
        .limit(1),
    ),
    end: database.prepare((take: Take<{ limit: number; now: number }>) =>
      build
        .updateTable('webhook_deliveries')
        .set({
          status: 'failed',
          next_attempt_at: null,
          finished_at: take('now'),
          last_error: sql<string>`'Not sent: ' || coalesce((select disabled_reason
            from webhook_endpoints where id = endpoint_id), 'the endpoint is disabled')`,
        })
        .where(
          sql<boolean>`rowid in (select delivery.rowid from webhook_endpoints endpoint
            cross join webhook_deliveries delivery
              on delivery.endpoint_id = endpoint.id and delivery.status = 'pending'
            where endpoint.status <> 'active' limit ${take('limit')})`,
        ),
    ),
  };
}

/** Keeps the count of failures of each endpoint. */
export class OutboxEndpoints {
  readonly #statements: ReturnType<typeof prepareEndpoints>;

  constructor(database: Database) {
    this.#statements = prepareEndpoints(database);
  }

  succeeded(endpointId: string): void {
    this.#statements.forgive.run({ id: endpointId });
  }

  /** Counts a delivery that failed for good. @returns whether the endpoint was disabled because of it. */
  failed(endpointId: string, error: string, nowMs: number): boolean {
    const failing = this.#statements.blame.get({ id: endpointId, now: nowMs });
    if (failing === undefined || !isHopeless(failing, nowMs)) return false;
    const reason = reasonOf(failing, error);
    this.#statements.disable.run({ id: endpointId, reason, now: nowMs });
    return true;
  }

  /** Whether deliveries are pending for an endpoint that is disabled or deleted. */
  get hasStranded(): boolean {
    return this.#statements.hasStranded.get({}) !== undefined;
  }

  /** Fails deliveries that are pending for disabled and deleted endpoints, 500 at most; they can be sent again by hand. */
  endStranded(nowMs: number): void {
    this.#statements.end.run({ limit: ENDED_MAX, now: nowMs });
  }
}

function isHopeless(failing: Failing, nowMs: number): boolean {
  return (
    failing.status === 'active' &&
    failing.failures_in_row >= FAILURES_MAX &&
    nowMs - failing.failing_since >= FAILING_MS_MAX
  );
}

function reasonOf(failing: Failing, lastError: string): string {
  const since = new Date(failing.failing_since).toISOString();
  return `disabled by the server because ${failing.failures_in_row} deliveries in a row failed since ${since}; the newest: ${lastError}`;
}
