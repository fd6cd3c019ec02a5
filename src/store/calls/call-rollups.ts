/** Adds calls up by day as they change, in the transaction that changes them: what totals and analytics read. */

import { sql } from 'kysely';
import type { CallDayRow, IntentDayRow } from '../accounts/usage-rows.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type CallRow } from '../sqlite/schema.ts';
import type { Statement, Take } from '../sqlite/statement.ts';

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

/** Which columns of a table are its key and which are added up; together they are all of its columns. */
interface SumColumns<Row> {
  readonly key: readonly (keyof Row & string)[];
  readonly sums: readonly (keyof Row & string)[];
}

/** Writes one table of sums. Everything runs inside a transaction of the caller's. */
class SumTable<Row extends { readonly calls: number }> {
  readonly #columns: SumColumns<Row>;
  readonly #add: Statement<Row, unknown>;
  readonly #forgetEmpty: Statement<Row, unknown>;

  constructor(database: Database, table: string, columns: SumColumns<Row>) {
    this.#columns = columns;
    this.#add = database.prepare((take: Take<Row>) => ({
      compile: () => upsert(table, columns, take).compile(build),
    }));
    this.#forgetEmpty = database.prepare((take: Take<Row>) => ({
      compile: () => deleteEmpty(table, columns, take).compile(build),
    }));
  }

  /** Takes away what was counted and adds what is to be counted; undefined counts nothing. */
  replace(was: Row | undefined, is: Row | undefined): void {
    if (was !== undefined && is !== undefined && this.#isSameKey(was, is)) {
      this.#change(is, was, is);
      return;
    }
    if (was !== undefined) {
      this.#change(was, was, undefined);
      this.#forgetEmpty.run(was);
    }
    if (is !== undefined) this.#change(is, undefined, is);
  }

  #isSameKey(was: Row, is: Row): boolean {
    return this.#columns.key.every((column) => was[column] === is[column]);
  }

  #change(key: Row, was: Row | undefined, is: Row | undefined): void {
    const differences = this.#columns.sums.map(
      (column) => [column, Number(is?.[column] ?? 0) - Number(was?.[column] ?? 0)] as const,
    );
    if (differences.every(([, difference]) => difference === 0)) return;
    this.#add.run({ ...key, ...Object.fromEntries(differences) });
  }
}

function upsert<Row>(table: string, { key, sums }: SumColumns<Row>, take: Take<Row>) {
  const columns = [...key, ...sums];
  const kept = (column: string) => sql.ref(`${table}.${column}`);
  return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values (${sql.join(columns.map((column) => take(column)))})
    on conflict (${sql.join(key.map((column) => sql.ref(column)))}) do update set ${sql.join(
      sums.map(
        (column) => sql`${sql.ref(column)} = ${kept(column)} + ${sql.ref(`excluded.${column}`)}`,
      ),
    )}`;
}

function deleteEmpty<Row>(table: string, { key }: SumColumns<Row>, take: Take<Row>) {
  const isTheRow = key.map((column) => sql`${sql.ref(column)} = ${take(column)}`);
  return sql`delete from ${sql.table(table)} where ${sql.join(isTheRow, sql` and `)} and calls = 0`;
}
