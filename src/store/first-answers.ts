/** Deliveries that were received at the first attempt: noted at once in a few pages, brought into the tables many together. */
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { ATTEMPT_COLUMNS, DELIVERY_COLUMNS } from './delivery-rows.ts';
import { COPIED_COLUMNS } from './new-delivery.ts';
import { build } from './schema.ts';
import { type Take, takeAll } from './statement.ts';
import type { FirstAnswerRow } from './webhook-rows.ts';

/** Deliveries that one transaction brings in: the more, the fewer pages each takes; so many take some 8 ms, and conversations wait for it. */
const BROUGHT_IN_MAX = 1000;

const NOTED = [
  'delivery_id',
  'event_position',
  'endpoint_id',
  'made_at',
  'started_at',
  'duration_ms',
  'status_code',
  'response_text',
] as const satisfies readonly (keyof FirstAnswerRow)[];

function prepareAnswers(database: Database) {
  return {
    any: database.prepare(() => build.selectFrom('first_answers').select('position').limit(1)),
    note: database.prepare((take: Take<FirstAnswerRow>) =>
      build.insertInto('first_answers').values(takeAll(take, NOTED)),
    ),
    addDeliveries: database.prepare(() =>
      build
        .insertInto('webhook_deliveries')
        .columns(DELIVERY_COLUMNS)
        .expression(selectDeliveries()),
    ),
    addAttempts: database.prepare(() =>
      build.insertInto('webhook_attempts').columns(ATTEMPT_COLUMNS).expression(selectAttempts()),
    ),
    clear: database.prepare(() => build.deleteFrom('first_answers')),
  };
}

/** Not where the endpoint or the event is gone by now. Columns as in `DELIVERY_COLUMNS`. */
function selectDeliveries() {
  return build
    .selectFrom('first_answers as noted')
    .crossJoin('events as event')
    .crossJoin('webhook_endpoints as endpoint')
    .whereRef('event.position', '=', 'noted.event_position')
    .whereRef('endpoint.id', '=', 'noted.endpoint_id')
    .select([
      'noted.delivery_id as id',
      ...COPIED_COLUMNS,
      sql.lit('succeeded').as('status'),
      sql.lit(1).as('attempts'),
      sql.lit(null).as('next_attempt_at'),
      'noted.status_code as last_status_code',
      sql.lit(null).as('last_error'),
      'noted.made_at as created_at',
      sql<number>`noted.started_at + noted.duration_ms`.as('finished_at'),
    ]);
}

/** Columns as in `ATTEMPT_COLUMNS`. */
function selectAttempts() {
  return build
    .selectFrom('first_answers as noted')
    .where(sql<boolean>`exists (select 1 from webhook_deliveries where id = noted.delivery_id)`)
    .select([
      'noted.delivery_id',
      sql.lit(1).as('attempt'),
      'noted.started_at as at',
      'noted.duration_ms',
      'noted.status_code',
      sql.lit(null).as('error'),
      'noted.response_text',
    ]);
}

/** Runs inside the transactions of others. */
export class FirstAnswers {
  readonly #statements: ReturnType<typeof prepareAnswers>;
  /** Since they were brought in; 0 also where a process that died left some. */
  #count = 0;
  #sinceMs: number | undefined;

  constructor(database: Database) {
    this.#statements = prepareAnswers(database);
  }

  note(answers: readonly FirstAnswerRow[], nowMs: number): void {
    if (this.#count + answers.length > BROUGHT_IN_MAX) this.bringIn();
    for (const answer of answers) this.#statements.note.run(answer);
    this.#count += answers.length;
    this.#sinceMs ??= nowMs;
  }

  get areThere(): boolean {
    return this.#statements.any.get({}) !== undefined;
  }

  /** Whether some wait for so long, or nobody knows since when. */
  areLate(nowMs: number, lateMs: number): boolean {
    const isFresh = this.#sinceMs !== undefined && Math.abs(nowMs - this.#sinceMs) < lateMs;
    return !isFresh && this.areThere;
  }

  bringIn(): void {
    const { addDeliveries, addAttempts, clear } = this.#statements;
    addDeliveries.run({});
    addAttempts.run({});
    clear.run({});
    this.#count = 0;
    this.#sinceMs = undefined;
  }
}
