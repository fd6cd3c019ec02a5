/** The outbox in SQLite: events become deliveries, deliveries fall due, and what came of them is written in groups. */
import type { NewId } from '../domain/ids.ts';
import type { AttemptResult, DueDelivery, Outbox, OutboxCounts } from '../domain/outbox.ts';
import type { Bell } from '../lib/bell.ts';
import type { Database } from './database.ts';
import { ATTEMPT_COLUMNS } from './delivery-rows.ts';
import { OutboxDue } from './outbox-due.ts';
import { type EndpointTally, OutboxEndpoints } from './outbox-endpoints.ts';
import { OutboxFanOut } from './outbox-fan-out.ts';
import { build } from './schema.ts';
import { type Take, takeAll } from './statement.ts';
import type { WebhookAttemptRow } from './webhook-rows.ts';

interface Outcome {
  readonly id: string;
  readonly attempt: number;
  readonly status: string;
  readonly next_attempt_at: number | null;
  readonly last_status_code: number | null;
  readonly last_error: string | null;
  readonly finished_at: number | null;
}

const OUTCOME_COLUMNS = [
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
        .set({ attempts: take('attempt'), ...takeAll(take, OUTCOME_COLUMNS) })
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
  readonly bell: Bell;
  readonly #database: Database;
  readonly #fanOut: OutboxFanOut;
  readonly #due: OutboxDue;
  readonly #endpoints: OutboxEndpoints;
  readonly #results: ReturnType<typeof prepareResults>;

  /** @param options.bell rings when events were written or deliveries made due. */
  constructor(database: Database, options: { readonly newId: NewId; readonly bell: Bell }) {
    this.bell = options.bell;
    this.#database = database;
    this.#fanOut = new OutboxFanOut(database, options.newId);
    this.#due = new OutboxDue(database);
    this.#endpoints = new OutboxEndpoints(database);
    this.#results = prepareResults(database);
  }

  /** Also fails what waits for endpoints that were disabled. Takes no lock when there is nothing to do. */
  fanOut({ limit, now }: { readonly limit: number; readonly now: Date }): number {
    const { hasEvents, hasStranded } = this.#database.read(() => ({
      hasEvents: this.#fanOut.hasEvents,
      hasStranded: this.#endpoints.hasStranded,
    }));
    if (!hasEvents && !hasStranded) return 0;
    return this.#database.write(() => {
      if (hasStranded) this.#endpoints.endStranded(now.getTime());
      return this.#fanOut.run(limit, now.getTime());
    });
  }

  /** What is on its way counts towards `perEndpoint`. */
  due(options: Parameters<Outbox['due']>[0]): readonly DueDelivery[] {
    return this.#database.read(() => this.#due.find(options));
  }

  nextDueAt(): Date | null {
    return this.#database.read(() => this.#due.nextAt());
  }

  record(results: readonly AttemptResult[], now: Date): readonly string[] {
    return this.#database.write(() => {
      const tallies = new Map<string, EndpointTally>();
      for (const result of results) this.#finish(result, tallies);
      const nowMs = now.getTime();
      const disabled = this.#endpoints.count(tallies, nowMs);
      if (disabled.length > 0) this.#endpoints.endStranded(nowMs);
      return disabled;
    });
  }

  counts(): OutboxCounts {
    return this.#database.read(() => this.#due.counts());
  }

  /** A delivery whose endpoint was deleted is gone, and its result with it. */
  #finish(result: AttemptResult, tallies: Map<string, EndpointTally>): void {
    const { attempt } = result.attempt;
    const finished = this.#results.finish.get({
      ...outcomeOf(result),
      attempt,
      before: attempt - 1,
    });
    if (finished === undefined) return;
    this.#results.addAttempt.run(attemptRowOf(result));
    const tally = tallies.get(finished.endpoint_id) ?? {
      succeeded: false,
      failures: 0,
      lastError: '',
    };
    tallies.set(finished.endpoint_id, tallied(tally, result));
  }
}

function tallied(tally: EndpointTally, result: AttemptResult): EndpointTally {
  if (result.isSuccess) return { succeeded: true, failures: 0, lastError: '' };
  if (result.nextAttemptAt !== null) return tally;
  const { succeeded, failures } = tally;
  return { succeeded, failures: failures + 1, lastError: result.attempt.error ?? '' };
}

function outcomeOf({ deliveryId, attempt, isSuccess, nextAttemptAt }: AttemptResult): Outcome {
  const endedAtMs = attempt.at.getTime() + attempt.durationMs;
  const isOver = isSuccess || nextAttemptAt === null;
  const failed = nextAttemptAt === null ? 'failed' : 'pending';
  return {
    id: deliveryId,
    attempt: attempt.attempt,
    status: isSuccess ? 'succeeded' : failed,
    next_attempt_at: isSuccess ? null : (nextAttemptAt?.getTime() ?? null),
    last_status_code: attempt.statusCode,
    last_error: attempt.error,
    finished_at: isOver ? Math.round(endedAtMs) : null,
  };
}

function attemptRowOf({ deliveryId, attempt }: AttemptResult): WebhookAttemptRow {
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
