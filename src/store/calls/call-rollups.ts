/** Adds calls up by day as they change, in the transaction that changes them: what totals and analytics read. */

import type { CallDayRow, IntentDayRow } from '../accounts/usage-rows.ts';
import type { Database } from '../sqlite/database.ts';
import type { CallRow } from '../sqlite/schema.ts';
import { SumTable } from '../sqlite/sum-table.ts';

const DAY_MS = 86_400_000;

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

const INTENT_KEY = ['agent_id', 'account_id', 'environment', 'day', 'intent'] as const;

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

/**
 * Keeps `call_days` and `intent_days` equal to what a scan of the calls would give, for each agent and for all agents of
 * an account together. Runs inside a transaction.
 */
export class CallRollups {
  readonly #days: SumTable<CallDayRow>;
  readonly #intents: SumTable<IntentDayRow>;

  constructor(database: Database) {
    this.#days = new SumTable(database, 'call_days', { key: DAY_KEY, sums: DAY_SUMS });
    this.#intents = new SumTable(database, 'intent_days', { key: INTENT_KEY, sums: ['calls'] });
  }

  added(call: RolledCall): void {
    this.#replace(undefined, call);
  }

  changed(before: RolledCall, after: RolledCall): void {
    if (ROLLED_COLUMNS.every((column) => before[column] === after[column])) return;
    this.#replace(before, after);
  }

  /** The call is over and no longer there; what it added up to stays. */
  erased(call: RolledCall): void {
    const row = dayRowOf(call);
    replaceInBoth(this.#days, row, { ...row, erased: 1 });
  }

  #replace(before: RolledCall | undefined, after: RolledCall): void {
    replaceInBoth(this.#days, before && dayRowOf(before), dayRowOf(after));
    replaceInBoth(this.#intents, before && intentRowOf(before), intentRowOf(after));
  }
}

/** In the agent's own row, and in that of all agents. */
function replaceInBoth<Row extends { readonly calls: number; readonly agent_id: string }>(
  table: SumTable<Row>,
  was: Row | undefined,
  is: Row | undefined,
): void {
  table.replace(was, is);
  table.replace(was && { ...was, agent_id: EVERY_AGENT }, is && { ...is, agent_id: EVERY_AGENT });
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

/** Undefined while nobody knows what the caller wanted. */
function intentRowOf(call: RolledCall): IntentDayRow | undefined {
  const { account_id, environment, agent_id, intent_detected } = call;
  if (intent_detected === null) return undefined;
  return { account_id, environment, agent_id, day: dayOf(call), intent: intent_detected, calls: 1 };
}

function dayOf(call: RolledCall): number {
  return Math.floor(call.sort_at / DAY_MS);
}
