/** Lists of calls: one prepared statement for each combination of filters that has been asked for. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../domain/agent.ts';
import type { CallQuery, CallSummary } from '../domain/call.ts';
import { CALL_COLUMNS, callOf } from './call-rows.ts';
import type { Database } from './database.ts';
import { build, type CallRow } from './schema.ts';
import type { Statement, Take } from './statement.ts';

interface Values extends Scope {
  readonly agentId: string | undefined;
  readonly status: string | undefined;
  readonly direction: string | undefined;
  readonly startedFrom: number | undefined;
  readonly startedBefore: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

const FILTERS = ['agentId', 'status', 'direction', 'startedFrom', 'startedBefore'] as const;

type Filter = (typeof FILTERS)[number];

interface SummaryRow extends CallRow {
  readonly has_transcript: number;
}

interface ListStatements {
  readonly rows: Statement<Values, SummaryRow>;
  readonly total: Statement<Values, { readonly n: number }>;
}

/** Answers list queries. Five filters make 32 statements at most. */
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
    const values: Values = {
      accountId: scope.accountId,
      environment: scope.environment,
      agentId: query.agentId,
      status: query.status,
      direction: query.direction,
      startedFrom: query.startedFrom?.getTime(),
      startedBefore: query.startedBefore?.getTime(),
      limit: query.limit,
      offset: query.offset,
    };
    return this.#database.read(() => {
      const { rows, total } = this.#statementsFor(values);
      return { calls: rows.all(values).map(summaryOf), total: total.get(values)?.n ?? 0 };
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

function prepareList(database: Database, given: readonly Filter[]): ListStatements {
  return {
    rows: database.prepare((take: Take<Values>) => selectPage(take, given)),
    total: database.prepare((take: Take<Values>) =>
      filtered(take, given).select((expression) => expression.fn.countAll<number>().as('n')),
    ),
  };
}

/** The page's ids come from an index alone, so that skipped rows are never read. */
function selectPage(take: Take<Values>, given: readonly Filter[]) {
  const page = filtered(take, given)
    .select('id')
    .orderBy('sort_at', 'desc')
    .orderBy('id', 'desc')
    .limit(take('limit'))
    .offset(take('offset'));
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

function filtered(take: Take<Values>, given: readonly Filter[]) {
  const every = build
    .selectFrom('calls')
    .where('account_id', '=', take('accountId'))
    .where('environment', '=', take('environment'));
  return given.reduce((query, filter) => query.where(conditionOf(filter, take)), every);
}

function conditionOf(filter: Filter, take: Take<Values>): RawBuilder<boolean> {
  switch (filter) {
    case 'agentId':
      return sql`agent_id = ${take(filter)}`;
    case 'status':
      return sql`status = ${take(filter)}`;
    case 'direction':
      return sql`direction = ${take(filter)}`;
    case 'startedFrom':
      return sql`sort_at >= ${take(filter)}`;
    case 'startedBefore':
      return sql`sort_at < ${take(filter)}`;
    default:
      return filter satisfies never;
  }
}

function summaryOf(row: SummaryRow): CallSummary {
  return { ...callOf(row), hasTranscript: row.has_transcript === 1 };
}
