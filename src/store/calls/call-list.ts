/** Lists of calls in SQLite: totals from the sums by day, pages by an index. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Call, CallQuery, CallSummary } from '../../domain/call/call.ts';
import type { Queries } from '../queries.ts';
import { recordOf } from '../sqlite/rows.ts';
import { build, type CallRow } from '../sqlite/schema.ts';
import { EVERY_AGENT } from './call-rollups.ts';

const DAY_MS = 86_400_000;

/** Before and after every call. */
const [EARLIEST_MS, LATEST_MS] = [0, Number.MAX_SAFE_INTEGER];

/** A query with its span of time in Unix milliseconds. */
interface Listed extends Omit<CallQuery, 'startedFrom' | 'startedBefore'> {
  readonly scope: Scope;
  /** Inclusive. */
  readonly fromMs: number;
  /** Exclusive. */
  readonly beforeMs: number;
}

/** Newest start first, ties by id; a call that has not started is listed by its creation. */
export async function listCalls(
  database: Queries,
  scope: Scope,
  query: CallQuery,
): Promise<{ readonly calls: readonly CallSummary[]; readonly total: number }> {
  const fromMs = query.startedFrom?.getTime() ?? EARLIEST_MS;
  const beforeMs = query.startedBefore?.getTime() ?? LATEST_MS;
  const listed = { ...query, scope, fromMs, beforeMs };
  const total = await totalOf(database, listed);
  if (query.offset >= total) return { calls: [], total };
  const rows = await database.all(selectPage(listed));
  return { calls: rows.map(summaryOf), total };
}

/** Whole days are added up already; the calls of any other span are counted. */
async function totalOf(database: Queries, listed: Listed): Promise<number> {
  const count = hasWholeDays(listed)
    ? sumsOf(listed).select(sql<number | null>`sum(calls - erased)`.as('n'))
    : callsOf(listed).select(sql<number | null>`count(*)`.as('n'));
  return (await database.get(count))?.n ?? 0;
}

function hasWholeDays({ fromMs, beforeMs }: Listed): boolean {
  return fromMs % DAY_MS === 0 && (beforeMs % DAY_MS === 0 || beforeMs === LATEST_MS);
}

/** The page's ids come from an index alone, so that skipped rows are never read. */
function selectPage(listed: Listed) {
  const ids = callsOf(listed)
    .select('id')
    .orderBy('sort_at', 'desc')
    .orderBy('id', 'desc')
    .limit(listed.limit)
    .offset(listed.offset);
  const said = sql<number>`exists (select 1 from transcript_entries where call_id = calls.id)`;
  return build
    .selectFrom('calls')
    .selectAll()
    .select(said.as('has_transcript'))
    .where('id', 'in', ids)
    .orderBy('sort_at', 'desc')
    .orderBy('id', 'desc');
}

function callsOf({ scope, agentId, status, direction, fromMs, beforeMs }: Listed) {
  let query = build
    .selectFrom('calls')
    .where('account_id', '=', scope.accountId)
    .where('environment', '=', scope.environment)
    .where('sort_at', '>=', fromMs)
    .where('sort_at', '<', beforeMs);
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (direction !== undefined) query = query.where('direction', '=', direction);
  return query;
}

function sumsOf({ scope, agentId, status, direction, fromMs, beforeMs }: Listed) {
  let query = build
    .selectFrom('call_days')
    .where('agent_id', '=', agentId ?? EVERY_AGENT)
    .where('account_id', '=', scope.accountId)
    .where('environment', '=', scope.environment)
    .where('day', '>=', Math.floor(fromMs / DAY_MS))
    .where('day', '<', Math.ceil(beforeMs / DAY_MS));
  if (status !== undefined) query = query.where('status', '=', status);
  if (direction !== undefined) query = query.where('direction', '=', direction);
  return query;
}

function summaryOf(row: CallRow & { readonly has_transcript: number }): CallSummary {
  return { ...callOf(row), hasTranscript: row.has_transcript === 1 };
}

/** The call of a row. */
export function callOf({ from_number: from, to_number: to, ...row }: CallRow): Call {
  const call = recordOf<Omit<Call, 'from' | 'to'>>(row, {
    json: ['metadata', 'overrides'],
    flags: ['recordingTruncated'],
    without: ['sort_at', 'words_erased', 'has_transcript'],
  });
  return { ...call, from, to };
}
