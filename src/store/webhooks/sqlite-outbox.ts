/** The outbox in SQLite: events become deliveries, deliveries fall due, and attempts are recorded. */
import type { NewId } from '../../domain/ids.ts';
import type {
  AttemptResult,
  DueDelivery,
  Outbox,
  OutboxCounts,
  WaitingEndpoint,
} from '../../domain/webhook/outbox.ts';
import type { DeliveryAttempt } from '../../domain/webhook/webhook-delivery.ts';
import type { Notifier } from '../../lib/notifier.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { ATTEMPT_COLUMNS } from './delivery-rows.ts';
import type { Outcome } from './new-delivery.ts';
import { OutboxDue } from './outbox-due.ts';
import { OutboxEndpoints } from './outbox-endpoints.ts';
import { OutboxFanOut } from './outbox-fan-out.ts';
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
