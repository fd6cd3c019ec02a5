/** Counts how endpoints fail, disables those that do for too long, and ends what waits for them; runs inside the outbox's transactions. */
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';

/** An endpoint is disabled when so many deliveries in a row failed for good … */
const FAILURES_MAX = 10;

/** … and the first of them was so long ago. */
const FAILING_MS_MAX = 7 * 86_400_000;

/** Deliveries that one transaction ends, so that the thread which also holds the conversations is soon free again. */
const ENDED_MAX = 500;

/** What a batch of results means for one endpoint, in their order. */
export interface EndpointTally {
  /** Whether a success came before the failures counted here. */
  readonly succeeded: boolean;
  /** Final failures since the last success. */
  readonly failures: number;
  readonly lastError: string;
}

interface Failing {
  readonly failures_in_row: number;
  readonly failing_since: number;
  readonly status: string;
}

function prepareEndpoints(database: Database) {
  const waits = sql<boolean>`endpoint.status = 'disabled'`;
  return {
    /** `ids` is a JSON list. The join's order keeps SQLite from reading all endpoints instead of these. */
    forgive: database.prepare((take: Take<{ ids: string }>) =>
      build
        .updateTable('webhook_endpoints')
        .set({ failures_in_row: 0, failing_since: null })
        .where(
          sql<boolean>`rowid in (select endpoint.rowid from json_each(${take('ids')}) succeeded
            cross join webhook_endpoints endpoint on endpoint.id = succeeded.value
            where endpoint.failures_in_row > 0)`,
        ),
    ),
    blame: database.prepare((take: Take<{ id: string; failures: number; now: number }>) =>
      build
        .updateTable('webhook_endpoints')
        .set({
          failures_in_row: sql<number>`failures_in_row + ${take('failures')}`,
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
        .where(waits)
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
            where ${waits} limit ${take('limit')})`,
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

  /**
   * Counts what came of a batch for each of its endpoints.
   *
   * @returns ids of endpoints that were disabled by it.
   */
  count(tallies: ReadonlyMap<string, EndpointTally>, nowMs: number): readonly string[] {
    const entries = [...tallies];
    const forgiven = entries.filter(([, { succeeded }]) => succeeded).map(([id]) => id);
    if (forgiven.length > 0) this.#statements.forgive.run({ ids: JSON.stringify(forgiven) });
    return entries.filter(([id, tally]) => this.#blame(id, tally, nowMs)).map(([id]) => id);
  }

  /** @returns whether the endpoint was disabled by it. */
  #blame(endpointId: string, tally: EndpointTally, nowMs: number): boolean {
    if (tally.failures === 0) return false;
    const failing = this.#statements.blame.get({
      id: endpointId,
      failures: tally.failures,
      now: nowMs,
    });
    if (failing === undefined || !isHopeless(failing, nowMs)) return false;
    const reason = reasonOf(failing, tally.lastError);
    this.#statements.disable.run({ id: endpointId, reason, now: nowMs });
    return true;
  }

  /** Whether something waits for a disabled endpoint. */
  get hasStranded(): boolean {
    return this.#statements.hasStranded.get({}) !== undefined;
  }

  /** Fails what waits for disabled endpoints, 500 deliveries at most; it can be sent again by hand. */
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
