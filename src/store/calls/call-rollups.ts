/** Sums of calls by day, updated in the transaction of each change; totals and analytics read them. */

import { CompiledQuery } from 'kysely';
import { QUARTER_HOUR_MS } from '../../domain/analytics/period.ts';
import { END_REASONS, type EndReason } from '../../domain/call/call.ts';
import type { CallCost } from '../../domain/call/call-cost.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Queries } from '../queries.ts';
import type {
  CallCostRow,
  CallDayRow,
  CallRow,
  IntentDayRow,
  QuarterHourRow,
} from '../sqlite/schema.ts';

/** The `agent_id` of the rows that add up all agents of an account; no agent has it. */
export const EVERY_AGENT = '';

/** A table of sums: the columns of its key, and those that are added up. */
interface SumTable<Row> {
  readonly name: 'call_days' | 'quarter_hours' | 'call_costs' | 'intent_days';
  readonly key: readonly (keyof Row & string)[];
  readonly sums: readonly (keyof Row & string)[];
}

const DAYS: SumTable<CallDayRow> = {
  name: 'call_days',
  key: ['agent_id', 'account_id', 'environment', 'day', 'direction', 'status'],
  sums: [
    ...(['calls', 'answered', 'missed', 'billed_seconds'] as const),
    ...(['sentiment_sum', 'sentiment_count', 'erased'] as const),
  ],
};

const QUARTER_HOURS: SumTable<QuarterHourRow> = {
  name: 'quarter_hours',
  key: ['agent_id', 'account_id', 'environment', 'quarter_hour'],
  sums: [
    ...(['calls', 'completed', 'missed', 'failed', 'inbound'] as const),
    ...(['answered', 'billed_seconds', 'met', 'judged'] as const),
    ...(['positive', 'neutral', 'negative'] as const),
    ...END_REASONS,
  ],
};

const COSTS: SumTable<CallCostRow> = {
  name: 'call_costs',
  key: ['agent_id', 'account_id', 'environment', 'quarter_hour', 'currency'],
  sums: ['calls', 'micros'],
};

const INTENTS: SumTable<IntentDayRow> = {
  name: 'intent_days',
  key: ['agent_id', 'account_id', 'environment', 'day', 'intent'],
  sums: ['calls'],
};

/** The columns of a call that are added up. */
const ROLLED_COLUMNS = [
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
  'end_reason',
  'sentiment',
  'success',
  'cost',
] as const satisfies readonly (keyof CallRow)[];

/** The columns of a call that its sums depend on. */
export type RolledCall = Pick<CallRow, (typeof ROLLED_COLUMNS)[number]>;

/**
 * Keeps `call_days`, `quarter_hours`, `call_costs` and `intent_days` equal to what a scan of the calls would give, for each
 * agent and for all agents of an account together. Runs inside a transaction.
 *
 * @param before The call until now; undefined for a new one.
 */
export async function rollUp(
  database: Queries,
  before: RolledCall | undefined,
  after: RolledCall,
): Promise<void> {
  if (before && ROLLED_COLUMNS.every((column) => before[column] === after[column])) return;
  await replace(database, DAYS, before && dayRowOf(before), dayRowOf(after));
  const quarterHour = before && quarterHourRowOf(before);
  await replace(database, QUARTER_HOURS, quarterHour, quarterHourRowOf(after));
  await replace(database, COSTS, before && costRowOf(before), costRowOf(after));
  await replace(database, INTENTS, before && intentRowOf(before), intentRowOf(after));
}

/** Subtracts an erased call from lists; its sums stay. Runs inside a transaction. */
export async function rollErased(database: Queries, call: RolledCall): Promise<void> {
  const row = dayRowOf(call);
  await replace(database, DAYS, row, { ...row, erased: 1 });
}

function dayRowOf(call: RolledCall): CallDayRow {
  const isOver = call.ended_at !== null;
  return {
    account_id: call.account_id,
    environment: call.environment,
    agent_id: call.agent_id,
    day: dayOf(call),
    direction: call.direction,
    status: call.status,
    calls: 1,
    answered: isOver && call.answered_at !== null ? 1 : 0,
    missed: isOver && call.answered_at === null ? 1 : 0,
    billed_seconds: call.duration_seconds,
    sentiment_sum: call.sentiment_score ?? 0,
    sentiment_count: call.sentiment_score === null ? 0 : 1,
    erased: 0,
  };
}

function quarterHourRowOf(call: RolledCall): QuarterHourRow {
  const { account_id, environment, agent_id, status, direction, end_reason, sentiment } = call;
  const [isOver, isAnswered] = [call.ended_at !== null, call.answered_at !== null];
  const one = (is: boolean) => (is ? 1 : 0);
  return {
    ...{ agent_id, account_id, environment, quarter_hour: quarterHourOf(call), calls: 1 },
    completed: one(status === 'completed'),
    missed: one(isOver && !isAnswered),
    failed: one(status === 'failed' && isAnswered),
    inbound: one(direction === 'inbound'),
    answered: one(isOver && isAnswered),
    billed_seconds: call.duration_seconds,
    met: one(call.success !== null && JSON.parse(call.success).met === true),
    judged: one(call.success !== null),
    positive: one(sentiment === 'positive'),
    neutral: one(sentiment === 'neutral'),
    negative: one(sentiment === 'negative'),
    ...endsOf(end_reason),
  };
}

/** One at the reason of the end, if there is any, and zero at the others. */
function endsOf(endReason: string | null): Record<EndReason, number> {
  const none = { user_hangup: 0, agent_hangup: 0, timeout: 0, transferred: 0 };
  const ends = { ...none, error: 0, no_answer: 0, busy: 0 };
  return endReason === null ? ends : { ...ends, [endReason]: 1 };
}

/** Undefined while the call has no cost. */
function costRowOf(call: RolledCall): CallCostRow | undefined {
  const { account_id, environment, agent_id, cost } = call;
  if (cost === null) return undefined;
  const { micros, currency }: CallCost = JSON.parse(cost);
  return {
    ...{ agent_id, account_id, environment, quarter_hour: quarterHourOf(call) },
    ...{ currency, calls: 1, micros },
  };
}

/** Undefined while the intent is not known. */
function intentRowOf(call: RolledCall): IntentDayRow | undefined {
  const { account_id, environment, agent_id, intent_detected } = call;
  if (intent_detected === null) return undefined;
  return { account_id, environment, agent_id, day: dayOf(call), intent: intent_detected, calls: 1 };
}

function dayOf(call: RolledCall): number {
  return Math.floor(call.sort_at / DAY_MS);
}

/** The quarter hour that a call is counted in. */
export function quarterHourOf({ sort_at }: Pick<RolledCall, 'sort_at'>): number {
  return Math.floor(sort_at / QUARTER_HOUR_MS);
}

/** Subtracts `was` and adds `is`, in the agent's own row and in that of all agents; undefined counts as zero. */
async function replace<Row extends { readonly agent_id: string }>(
  database: Queries,
  table: SumTable<Row>,
  was: Row | undefined,
  is: Row | undefined,
): Promise<void> {
  const ofAll = { agent_id: EVERY_AGENT };
  await replaceRow(database, table, was, is);
  await replaceRow(database, table, was && { ...was, ...ofAll }, is && { ...is, ...ofAll });
}

async function replaceRow<Row>(
  database: Queries,
  table: SumTable<Row>,
  was: Row | undefined,
  is: Row | undefined,
): Promise<void> {
  const isMoved = !was || !is || table.key.some((column) => was[column] !== is[column]);
  if (is)
    await add(database, table, is, (sum) => Number(is[sum]) - (isMoved ? 0 : Number(was[sum])));
  if (!was || !isMoved) return;
  await add(database, table, was, (sum) => -Number(was[sum]));
  const isKey = table.key.map((column) => `${column} = ?`).join(' and ');
  const empty = `delete from ${table.name} where ${isKey} and calls = 0`;
  await run(database, empty, valuesOf(table, was));
}

/** Adds to the sums of a row, which is made where it is missing. */
async function add<Row>(
  database: Queries,
  table: SumTable<Row>,
  row: Row,
  changeOf: (sum: keyof Row & string) => number,
): Promise<void> {
  const { name, key, sums } = table;
  const changes = sums.map(changeOf);
  if (changes.every((change) => change === 0)) return;
  const columns = [...key, ...sums];
  const text = `insert into ${name} (${columns.join()}) values (${columns.map(() => '?').join()})
    on conflict (${key.join()}) do update set
    ${sums.map((sum) => `${sum} = ${name}.${sum} + excluded.${sum}`).join()}`;
  await run(database, text, [...valuesOf(table, row), ...changes]);
}

function valuesOf<Row>({ key }: SumTable<Row>, row: Row): readonly unknown[] {
  return key.map((column) => row[column]);
}

async function run(database: Queries, text: string, values: readonly unknown[]): Promise<void> {
  await database.run({ compile: () => CompiledQuery.raw(text, [...values]) });
}
