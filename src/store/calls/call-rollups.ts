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

const DAY_KEY = ['agent_id', 'account_id', 'environment', 'day', 'direction', 'status'] as const;

const DAY_SUMS = [
  'calls',
  'answered',
  'missed',
  'billed_seconds',
  'sentiment_sum',
  'sentiment_count',
  'erased',
] as const;

const QUARTER_HOUR_KEY = ['agent_id', 'account_id', 'environment', 'quarter_hour'] as const;

const QUARTER_HOUR_SUMS = [
  ...(['calls', 'completed', 'missed', 'failed', 'inbound', 'answered', 'billed_seconds'] as const),
  ...(['met', 'judged', 'positive', 'neutral', 'negative'] as const),
  ...END_REASONS,
] as const;

const COST_KEY = [...QUARTER_HOUR_KEY, 'currency'] as const;

const INTENT_KEY = ['agent_id', 'account_id', 'environment', 'day', 'intent'] as const;

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
 */
export class CallRollups {
  readonly #days: SumTable<CallDayRow>;
  readonly #quarterHours: SumTable<QuarterHourRow>;
  readonly #costs: SumTable<CallCostRow>;
  readonly #intents: SumTable<IntentDayRow>;

  constructor(database: Queries) {
    this.#days = new SumTable(database, 'call_days', { key: DAY_KEY, sums: DAY_SUMS });
    this.#quarterHours = new SumTable(database, 'quarter_hours', {
      key: QUARTER_HOUR_KEY,
      sums: QUARTER_HOUR_SUMS,
    });
    this.#costs = new SumTable(database, 'call_costs', {
      key: COST_KEY,
      sums: ['calls', 'micros'],
    });
    this.#intents = new SumTable(database, 'intent_days', { key: INTENT_KEY, sums: ['calls'] });
  }

  async added(call: RolledCall): Promise<void> {
    await this.#replace(undefined, call);
  }

  async changed(before: RolledCall, after: RolledCall): Promise<void> {
    if (ROLLED_COLUMNS.every((column) => before[column] === after[column])) return;
    await this.#replace(before, after);
  }

  /** Subtracts an erased call from lists; its sums stay. */
  async erased(call: RolledCall): Promise<void> {
    const row = dayRowOf(call);
    await replaceInBoth(this.#days, row, { ...row, erased: 1 });
  }

  async #replace(before: RolledCall | undefined, after: RolledCall): Promise<void> {
    await replaceInBoth(this.#days, before && dayRowOf(before), dayRowOf(after));
    const quarterHour = before && quarterHourRowOf(before);
    await replaceInBoth(this.#quarterHours, quarterHour, quarterHourRowOf(after));
    await replaceInBoth(this.#costs, before && costRowOf(before), costRowOf(after));
    await replaceInBoth(this.#intents, before && intentRowOf(before), intentRowOf(after));
  }
}

/** Replaces in the agent's own row, and in the row of all agents. */
async function replaceInBoth<Row extends { readonly calls: number; readonly agent_id: string }>(
  table: SumTable<Row>,
  was: Row | undefined,
  is: Row | undefined,
): Promise<void> {
  await table.replace(was, is);
  await table.replace(
    was && { ...was, agent_id: EVERY_AGENT },
    is && { ...is, agent_id: EVERY_AGENT },
  );
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

/** Writes one table of sums, inside a transaction of the caller. Its SQL is made once: every change of a call runs it. */
class SumTable<Row extends { readonly calls: number }> {
  readonly #database: Queries;
  readonly #key: readonly (keyof Row & string)[];
  readonly #sums: readonly (keyof Row & string)[];
  readonly #add: string;
  readonly #deleteEmpty: string;

  /** @param columns all of the table's. */
  constructor(
    database: Queries,
    table: 'call_days' | 'quarter_hours' | 'call_costs' | 'intent_days',
    columns: {
      readonly key: readonly (keyof Row & string)[];
      readonly sums: readonly (keyof Row & string)[];
    },
  ) {
    const { key, sums } = columns;
    const all = [...key, ...sums];
    this.#database = database;
    this.#key = key;
    this.#sums = sums;
    this.#add = `insert into ${table} (${all.join()}) values (${all.map(() => '?').join()})
      on conflict (${key.join()}) do update set
      ${sums.map((sum) => `${sum} = ${table}.${sum} + excluded.${sum}`).join()}`;
    this.#deleteEmpty = `delete from ${table}
      where ${key.map((column) => `${column} = ?`).join(' and ')} and calls = 0`;
  }

  /** Subtracts `was` and adds `is`; undefined counts as zero. */
  async replace(was: Row | undefined, is: Row | undefined): Promise<void> {
    if (was && is && this.#key.every((column) => was[column] === is[column])) {
      return this.#change(
        is,
        this.#sums.map((sum) => Number(is[sum]) - Number(was[sum])),
      );
    }
    if (is !== undefined) {
      await this.#change(
        is,
        this.#sums.map((sum) => Number(is[sum])),
      );
    }
    if (was === undefined) return;
    await this.#change(
      was,
      this.#sums.map((sum) => -Number(was[sum])),
    );
    await this.#run(this.#deleteEmpty, this.#keyOf(was));
  }

  async #change(row: Row, changes: readonly number[]): Promise<void> {
    if (changes.some((change) => change !== 0)) {
      await this.#run(this.#add, [...this.#keyOf(row), ...changes]);
    }
  }

  #keyOf(row: Row): readonly unknown[] {
    return this.#key.map((column) => row[column]);
  }

  async #run(text: string, parameters: readonly unknown[]): Promise<void> {
    await this.#database.run({ compile: () => CompiledQuery.raw(text, [...parameters]) });
  }
}
