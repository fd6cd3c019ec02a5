/** Lists of calls: totals from the sums by day, pages from an index entered at the right day. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { CallQuery, CallSummary } from '../../domain/call/call.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type CallRow } from '../sqlite/schema.ts';
import type { Statement, Take } from '../sqlite/statement.ts';
import { EVERY_AGENT } from './call-rollups.ts';
import { CALL_COLUMNS, callOf } from './call-rows.ts';
import { type DayCount, type Span, spansOfPage } from './call-spans.ts';

const DAY_MS = 86_400_000;

/** Before and after every call. */
const [EARLIEST_MS, LATEST_MS] = [0, Number.MAX_SAFE_INTEGER];

/** Up to here, skipping along the index is quicker than finding the day. */
const NEAR_OFFSET_MAX = 1000;

interface Values extends Scope {
  readonly agentId: string | undefined;
  readonly status: string | undefined;
  readonly direction: string | undefined;
  /** Whose sums are read. */
  readonly sumsOf: string;
  /** Inclusive. */
  readonly fromMs: number;
  /** Exclusive. */
  readonly beforeMs: number;
  readonly fromDay: number;
  readonly beforeDay: number;
  readonly limit: number;
  readonly offset: number;
}

const FILTERS = ['agentId', 'status', 'direction'] as const;

type Filter = (typeof FILTERS)[number];

interface SummaryRow extends CallRow {
  readonly has_transcript: number;
}

interface ListStatements {
  readonly rows: Statement<Values, SummaryRow>;
  /** Of whole days, from their sums. */
  readonly total: Statement<Values, { readonly n: number | null }>;
  /** Of any span of time, from the calls. */
  readonly count: Statement<Values, { readonly n: number | null }>;
  readonly days: Statement<Values, DayCount>;
}

/** Answers list queries with one set of prepared statements for each combination of filters that has been asked for. */
export class CallList {
  readonly #database: Database;
  readonly #prepared = new Map<string, ListStatements>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Newest start first, ties by id; a call that has not started counts as started when it was asked for. */
  list(
    scope: Scope,
    query: CallQuery,
  ): { readonly calls: readonly CallSummary[]; readonly total: number } {
    const { rows, total } = this.#read(valuesOf(scope, query));
    return { calls: rows.map(summaryOf), total };
  }

  /** A page far from the newest call may lie on several stretches of the index. */
  #read(values: Values): { readonly rows: readonly SummaryRow[]; readonly total: number } {
    return this.#database.read(() => {
      const statements = this.#statementsFor(values);
      const total = (hasWholeDays(values) ? statements.total : statements.count).get(values)?.n;
      if (!total || values.offset >= total) return { rows: [], total: total ?? 0 };
      if (isNear(values)) return { rows: statements.rows.all(values), total };
      const spans = spansOfPage(statements.days.all(values), values);
      const rows = spans.flatMap((span) => statements.rows.all({ ...values, ...boundsOf(span) }));
      return { rows, total };
    });
  }

  #statementsFor(values: Values): ListStatements {
    const given = FILTERS.filter((filter) => values[filter] !== undefined);
    const name = given.join();
    const prepared = this.#prepared.get(name) ?? prepareList(this.#database, given);
    this.#prepared.set(name, prepared);
    return prepared;
  }
}

function valuesOf({ accountId, environment }: Scope, query: CallQuery): Values {
  const fromMs = query.startedFrom?.getTime() ?? EARLIEST_MS;
  const beforeMs = query.startedBefore?.getTime() ?? LATEST_MS;
  return {
    accountId,
    environment,
    agentId: query.agentId,
    status: query.status,
    direction: query.direction,
    sumsOf: query.agentId ?? EVERY_AGENT,
    fromMs,
    beforeMs,
    fromDay: Math.floor(fromMs / DAY_MS),
    beforeDay: Math.ceil(beforeMs / DAY_MS),
    limit: query.limit,
    offset: query.offset,
  };
}

function hasWholeDays({ fromMs, beforeMs }: Values): boolean {
  return fromMs % DAY_MS === 0 && (beforeMs % DAY_MS === 0 || beforeMs === LATEST_MS);
}

/** Whether a walk along the index from its newest call meets the page soon: every call that it meets counts. */
function isNear(values: Values): boolean {
  if (!hasWholeDays(values)) return true;
  const { status, direction, offset } = values;
  return status === undefined && direction === undefined && offset <= NEAR_OFFSET_MAX;
}

function boundsOf({ firstDay, lastDay, offset, limit }: Span) {
  return { fromMs: firstDay * DAY_MS, beforeMs: (lastDay + 1) * DAY_MS, offset, limit };
}

function prepareList(database: Database, given: readonly Filter[]): ListStatements {
  return {
    rows: database.prepare((take: Take<Values>) => selectPage(take, given)),
    total: database.prepare((take: Take<Values>) =>
      sumsOf(take, given).select(sql<number | null>`sum(calls - erased)`.as('n')),
    ),
    count: database.prepare((take: Take<Values>) =>
      callsOf(take, given).select(sql<number | null>`count(*)`.as('n')),
    ),
    days: database.prepare((take: Take<Values>) =>
      sumsOf(take, given)
        .select(['day', sql<number>`sum(calls - erased)`.as('calls')])
        .groupBy('day')
        .orderBy('day', 'desc'),
    ),
  };
}

/** The page's ids come from an index alone, so that skipped rows are never read. */
function selectPage(take: Take<Values>, given: readonly Filter[]) {
  const page = pageOf(take, given).select('id');
  return build
    .selectFrom('calls')
    .select(CALL_COLUMNS)
    .select(
      sql<number>`exists (select 1 from transcript_entries where call_id = calls.id)`.as(
        'has_transcript',
      ),
    )
    .where('id', 'in', page)
    .orderBy('sort_at', 'desc')
    .orderBy('id', 'desc');
}

function pageOf(take: Take<Values>, given: readonly Filter[]) {
  return callsOf(take, given)
    .orderBy('sort_at', 'desc')
    .orderBy('id', 'desc')
    .limit(take('limit'))
    .offset(take('offset'));
}

function callsOf(take: Take<Values>, given: readonly Filter[]) {
  // The plus keeps SQLite from the account's index where the agent's is the shorter way.
  const accountId = sql<string>`${sql.raw(given.includes('agentId') ? '+' : '')}account_id`;
  const every = build
    .selectFrom('calls')
    .where(accountId, '=', take('accountId'))
    .where('environment', '=', take('environment'))
    .where('sort_at', '>=', take('fromMs'))
    .where('sort_at', '<', take('beforeMs'));
  return given.reduce((query, filter) => query.where(conditionOf(filter, take)), every);
}

/** An agent has sums of its own. */
function sumsOf(take: Take<Values>, given: readonly Filter[]) {
  const every = build
    .selectFrom('call_days')
    .where('agent_id', '=', take('sumsOf'))
    .where('account_id', '=', take('accountId'))
    .where('environment', '=', take('environment'))
    .where('day', '>=', take('fromDay'))
    .where('day', '<', take('beforeDay'));
  return given
    .filter((filter) => filter !== 'agentId')
    .reduce((query, filter) => query.where(conditionOf(filter, take)), every);
}

function conditionOf(filter: Filter, take: Take<Values>): RawBuilder<boolean> {
  switch (filter) {
    case 'agentId':
      return sql`agent_id = ${take(filter)}`;
    case 'status':
      return sql`status = ${take(filter)}`;
    case 'direction':
      return sql`direction = ${take(filter)}`;
    default:
      return filter satisfies never;
  }
}

function summaryOf(row: SummaryRow): CallSummary {
  return { ...callOf(row), hasTranscript: row.has_transcript === 1 };
}
