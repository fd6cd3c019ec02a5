/** Adds calls up by day as they change, in the transaction that changes them: what totals and analytics read. */
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { build, type CallRow } from './schema.ts';
import { type Take, takeAll } from './statement.ts';
import type { CallDayRow, IntentDayRow } from './usage-rows.ts';

const DAY_MS = 86_400_000;

const DAY_KEY = ['account_id', 'environment', 'agent_id', 'day', 'direction', 'status'] as const;

const DAY_SUMS = [
  'calls',
  'answered',
  'missed',
  'billed_seconds',
  'sentiment_sum',
  'sentiment_count',
] as const;

/** The columns of a call that are added up. */
export const ROLLED_COLUMNS = [
  'account_id',
  'environment',
  'agent_id',
  'direction',
  'status',
  'sort_at',
  'answered_at',
  'ended_at',
  'duration_seconds',
  'sentiment_score',
  'intent_detected',
] as const satisfies readonly (keyof CallRow)[];

export type RolledCall = Pick<CallRow, (typeof ROLLED_COLUMNS)[number]>;

function prepareRollups(database: Database) {
  const intentKey = ['account_id', 'environment', 'agent_id', 'day', 'intent'] as const;
  return {
    day: database.prepare((take: Take<CallDayRow>) =>
      build
        .insertInto('call_days')
        .values(takeAll(take, [...DAY_KEY, ...DAY_SUMS]))
        .onConflict((conflict) =>
          conflict
            .columns([...DAY_KEY])
            .doUpdateSet(
              Object.fromEntries(
                DAY_SUMS.map((sum) => [
                  sum,
                  sql<number>`${sql.ref(`call_days.${sum}`)} + ${sql.ref(`excluded.${sum}`)}`,
                ]),
              ),
            ),
        ),
    ),
    intent: database.prepare((take: Take<IntentDayRow>) =>
      build
        .insertInto('intent_days')
        .values(takeAll(take, [...intentKey, 'calls']))
        .onConflict((conflict) =>
          conflict
            .columns([...intentKey])
            .doUpdateSet({ calls: sql<number>`intent_days.calls + excluded.calls` }),
        ),
    ),
  };
}

/** Keeps `call_days` and `intent_days` equal to what a scan of the calls would give. Runs inside a transaction. */
export class CallRollups {
  readonly #statements: ReturnType<typeof prepareRollups>;

  constructor(database: Database) {
    this.#statements = prepareRollups(database);
  }

  added(call: RolledCall): void {
    this.#count(call, 1);
  }

  changed(before: RolledCall, after: RolledCall): void {
    if (ROLLED_COLUMNS.every((column) => before[column] === after[column])) return;
    this.#count(before, -1);
    this.#count(after, 1);
  }

  #count(call: RolledCall, sign: 1 | -1): void {
    const day = Math.floor(call.sort_at / DAY_MS);
    const isOver = call.ended_at !== null;
    const { account_id, environment, agent_id, direction, status } = call;
    this.#statements.day.run({
      account_id,
      environment,
      agent_id,
      day,
      direction,
      status,
      calls: sign,
      answered: isOver && call.answered_at !== null ? sign : 0,
      missed: isOver && call.answered_at === null ? sign : 0,
      billed_seconds: sign * call.duration_seconds,
      sentiment_sum: sign * (call.sentiment_score ?? 0),
      sentiment_count: call.sentiment_score === null ? 0 : sign,
    });
    if (call.intent_detected === null) return;
    const intent = call.intent_detected;
    this.#statements.intent.run({ account_id, environment, agent_id, day, intent, calls: sign });
  }
}
