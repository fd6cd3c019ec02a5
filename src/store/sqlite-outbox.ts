/** The outbox in SQLite: events become deliveries, deliveries fall due, and what came of them is written in groups. */
import type { NewId } from '../domain/ids.ts';
import type { AttemptResult, DueDelivery, Outbox, OutboxCounts } from '../domain/outbox.ts';
import type { DeliveryAttempt } from '../domain/webhook-delivery.ts';
import type { Bell } from '../lib/bell.ts';
import type { Database } from './database.ts';
import { ATTEMPT_COLUMNS } from './delivery-rows.ts';
import type { HeldDeliveries, HeldDelivery } from './held-deliveries.ts';
import type { Outcome } from './new-delivery.ts';
import { OutboxDue } from './outbox-due.ts';
import { type EndpointTally, OutboxEndpoints } from './outbox-endpoints.ts';
import { OutboxFanOut } from './outbox-fan-out.ts';
import { build } from './schema.ts';
import { type Take, takeAll } from './statement.ts';
import type { FirstAnswerRow, WebhookAttemptRow } from './webhook-rows.ts';

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
  readonly bell: Bell;
  readonly #database: Database;
  readonly #held: HeldDeliveries;
  readonly #fanOut: OutboxFanOut;
  readonly #due: OutboxDue;
  readonly #endpoints: OutboxEndpoints;
  readonly #results: ReturnType<typeof prepareResults>;

  /** @param options.bell rings when events were written or deliveries made due. */
  constructor(
    database: Database,
    options: { readonly held: HeldDeliveries; readonly newId: NewId; readonly bell: Bell },
  ) {
    const { held, newId, bell } = options;
    this.bell = bell;
    this.#database = database;
    this.#held = held;
    this.#fanOut = new OutboxFanOut(database, newId);
    this.#due = new OutboxDue(database, held);
    this.#endpoints = new OutboxEndpoints(database);
    this.#results = prepareResults(database);
  }

  /**
   * Also fails what waits for endpoints that were disabled. Takes no lock when there is nothing to write: new deliveries
   * are held until their first answer. What is held for too long is written first, so that its number stays bounded while
   * nothing can be written.
   */
  fanOut({ limit, now }: { readonly limit: number; readonly now: Date }): number {
    const nowMs = now.getTime();
    this.#held.settleLate(nowMs);
    const { made, hasStranded } = this.#database.read(() => ({
      made: this.#fanOut.read({ after: this.#held.position, limit, nowMs }),
      hasStranded: this.#endpoints.hasStranded,
    }));
    this.#held.hold(made.deliveries, made.position);
    this.#held.settleLate(nowMs);
    if (hasStranded) this.#database.write(() => this.#endpoints.endStranded(nowMs));
    return made.events;
  }

  /** What is on its way counts towards `perEndpoint`. */
  due(options: Parameters<Outbox['due']>[0]): readonly DueDelivery[] {
    return this.#database.read(() => this.#due.find(options));
  }

  nextDueAt(): Date | null {
    return this.#database.read(() => this.#due.nextAt());
  }

  record(results: readonly AttemptResult[], now: Date): readonly string[] {
    const nowMs = now.getTime();
    return this.#held.transaction(() => {
      const tallies = new Map<string, EndpointTally>();
      const answers: FirstAnswerRow[] = [];
      for (const result of results) this.#finish(result, { tallies, answers });
      this.#held.noteReceived(answers, nowMs);
      const disabled = this.#endpoints.count(tallies, nowMs);
      if (disabled.length > 0) {
        this.#held.writeRest();
        this.#endpoints.endStranded(nowMs);
      }
      return disabled;
    });
  }

  counts(): OutboxCounts {
    return this.#database.read(() => this.#due.counts());
  }

  #finish(
    result: AttemptResult,
    { tallies, answers }: { tallies: Map<string, EndpointTally>; answers: FirstAnswerRow[] },
  ): void {
    const held = this.#held.find(result.deliveryId);
    if (held !== undefined && result.isSuccess) answers.push(firstAnswerOf(held, result));
    const endpointId =
      held !== undefined && result.isSuccess ? held.endpointId : this.#write(result, held);
    if (endpointId === undefined) return;
    const tally = tallies.get(endpointId) ?? { succeeded: false, failures: 0, lastError: '' };
    tallies.set(endpointId, tallied(tally, result));
  }

  /**
   * Writes the delivery and its attempt. A delivery whose endpoint was deleted is gone, and its result with it.
   *
   * @returns whose it is; undefined when it is gone.
   */
  #write(result: AttemptResult, held: HeldDelivery | undefined): string | undefined {
    const outcome = outcomeOf(result);
    const endpointId =
      held === undefined
        ? this.#results.finish.get({ ...outcome, before: outcome.attempts - 1 })?.endpoint_id
        : this.#held.write(held, outcome);
    if (endpointId !== undefined) {
      this.#results.addAttempt.run(attemptRowOf(result.deliveryId, result.attempt));
    }
    return endpointId;
  }
}

function firstAnswerOf(held: HeldDelivery, { attempt }: AttemptResult): FirstAnswerRow {
  const { at, duration_ms, status_code, response_text } = attemptRowOf(held.id, attempt);
  return {
    delivery_id: held.id,
    event_position: held.position,
    endpoint_id: held.endpointId,
    made_at: held.madeAtMs,
    started_at: at,
    duration_ms,
    status_code,
    response_text,
  };
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
