/** Lists and search of calls in SQLite: totals from sums by day, pages from an index, and the index of words. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  Call,
  CallList,
  CallPosition,
  CallQuery,
  CallSummary,
} from '../../domain/call/call.ts';
import type { CallSearch } from '../../domain/call/call-search.ts';
import { StoreError } from '../../domain/service-error.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { Repeater } from '../../lib/repeater.ts';
import { inScope, type Queries } from '../queries.ts';
import { recordOf } from '../sqlite/rows.ts';
import { build, type CallRow } from '../sqlite/schema.ts';
import { EVERY_AGENT } from './call-rollups.ts';

/** Times before and after every call. */
const [EARLIEST_MS, LATEST_MS] = [0, Number.MAX_SAFE_INTEGER];

/** Up to here, skipping along the index is quicker than finding the day. */
const NEAR_OFFSET_MAX = 1000;

/** The filters that the sums by day have, too. */
const SUMMED_FILTERS = ['agentId', 'status', 'direction'] as const;

/** Filters that are columns of a call. */
const EQUAL_COLUMNS = [
  ['agentId', 'agent_id'],
  ['status', 'status'],
  ['direction', 'direction'],
  ['endReason', 'end_reason'],
  ['sentiment', 'sentiment'],
  ['answeredBy', 'answered_by'],
] as const satisfies readonly (readonly [keyof CallQuery, keyof CallRow])[];

/** A query with its span of time in Unix milliseconds. */
interface Listed extends Omit<CallQuery, 'startedFrom' | 'startedBefore' | 'after'> {
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
): Promise<CallList> {
  const { after, ...filters } = query;
  const fromMs = query.startedFrom?.getTime() ?? EARLIEST_MS;
  const beforeMs = query.startedBefore?.getTime() ?? LATEST_MS;
  const listed = { ...filters, scope, fromMs, beforeMs };
  if (query.search?.kind === 'words') await indexBeforeSearch(database);
  const total = await totalOf(database, listed);
  if (after !== undefined) return { ...(await pageAfter(database, listed, after)), total };
  const { offset } = query;
  if (offset >= total) return { calls: [], total, offset };
  const spans = isNear(listed) ? [listed] : spansOfPage(await daysOf(database, listed), listed);
  const rows: Parameters<typeof summaryOf>[0][] = [];
  for (const span of spans) rows.push(...(await database.all(selectPage({ ...listed, ...span }))));
  return { calls: rows.map(summaryOf), total, offset };
}

/** Starts in the index right behind the position, so that calls added before it do not shift the page. */
async function pageAfter(
  database: Queries,
  listed: Listed,
  after: CallPosition,
): Promise<Omit<CallList, 'total'>> {
  const atMs = after.at.getTime();
  const isBehind = sql<boolean>`(sort_at, id) < (${atMs}, ${after.id})`;
  const newer = { ...listed, fromMs: Math.max(listed.fromMs, atMs) };
  const before = callsOf(newer)
    .where(sql<boolean>`not ${isBehind}`)
    .select(sql<number | null>`count(*)`.as('n'));
  const older = { ...listed, beforeMs: Math.min(listed.beforeMs, atMs + 1), offset: 0 };
  const rows = await database.all(selectPage(older, callsOf(older).where(isBehind)));
  return { calls: rows.map(summaryOf), offset: (await database.get(before))?.n ?? 0 };
}

/** Whole days are added up already; the calls of any other span are counted. */
async function totalOf(database: Queries, listed: Listed): Promise<number> {
  const count = isSummed(listed)
    ? sumsOf(listed).select(sql<number | null>`sum(calls - erased)`.as('n'))
    : callsOf(listed).select(sql<number | null>`count(*)`.as('n'));
  return (await database.get(count))?.n ?? 0;
}

async function daysOf(database: Queries, listed: Listed): Promise<readonly DayCount[]> {
  return database.all(
    sumsOf(listed)
      .select(['day', sql<number>`sum(calls - erased)`.as('calls')])
      .groupBy('day')
      .orderBy('day', 'desc'),
  );
}

/** Whether the sums by day have the answer: whole days, and no filter that they do not know. */
function isSummed({ scope: _, limit: __, offset: ___, ...listed }: Listed): boolean {
  const { fromMs, beforeMs, ...filters } = listed;
  const isWhole = fromMs % DAY_MS === 0 && (beforeMs % DAY_MS === 0 || beforeMs === LATEST_MS);
  const summed: readonly string[] = [...SUMMED_FILTERS, 'startedFrom', 'startedBefore'];
  return isWhole && Object.keys(filters).every((name) => summed.includes(name));
}

/** Whether a walk along the index from its newest call soon reaches the page, because every call on it counts. */
function isNear(listed: Listed): boolean {
  const { status, direction, offset } = listed;
  if (!isSummed(listed)) return true;
  return status === undefined && direction === undefined && offset <= NEAR_OFFSET_MAX;
}

/** The page's ids come from an index alone, so that skipped rows are never read. */
function selectPage(listed: Listed, calls = callsOf(listed)) {
  const ids = calls
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

function callsOf(listed: Listed) {
  const { scope, fromMs, beforeMs, minDurationSeconds, maxDurationSeconds } = listed;
  let query = build
    .selectFrom('calls')
    .where(inScope(scope))
    .where('sort_at', '>=', fromMs)
    .where('sort_at', '<', beforeMs);
  for (const [filter, column] of EQUAL_COLUMNS) {
    const value = listed[filter];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  if (minDurationSeconds !== undefined) {
    query = query.where('duration_seconds', '>=', minDurationSeconds);
  }
  if (maxDurationSeconds !== undefined) {
    query = query.where('duration_seconds', '<=', maxDurationSeconds);
  }
  if (listed.tag !== undefined) {
    const tagged = build.selectFrom('call_tags').select('call_id').where('tag', '=', listed.tag);
    query = query.where('id', 'in', tagged);
  }
  return listed.search === undefined ? query : query.where(matches(listed.search, scope));
}

function sumsOf({ scope, agentId, status, direction, fromMs, beforeMs }: Listed) {
  let query = build
    .selectFrom('call_days')
    .where('agent_id', '=', agentId ?? EVERY_AGENT)
    .where(inScope(scope))
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
    json: ['metadata', 'overrides', 'extracted', 'success', 'price', 'cost'],
    flags: ['recordingTruncated'],
    without: ['sort_at', 'words_erased', 'has_transcript'],
  });
  return { ...call, from, to };
}

/** Number of a list's calls on one day. */
export interface DayCount {
  /** Days since 1970. */
  readonly day: number;
  readonly calls: number;
}

/** Consecutive days, and which of their calls belong to the page. */
export interface Span {
  /** Start of the oldest day. */
  readonly fromMs: number;
  /** End of the newest day. */
  readonly beforeMs: number;
  /** Counted from the newest call of the span. */
  readonly offset: number;
  readonly limit: number;
}

/**
 * Finds the days that a page lies on: skips whole days, and leaves out days without calls.
 *
 * @param days Newest first, without empty days.
 * @returns newest first; each but the first begins with the newest call of its newest day.
 */
export function spansOfPage(
  days: readonly DayCount[],
  page: { readonly offset: number; readonly limit: number },
): readonly Span[] {
  const spans: Span[] = [];
  let { offset, limit } = page;
  for (const { day, calls } of days) {
    if (limit === 0) break;
    if (offset >= calls) {
      offset -= calls;
      continue;
    }
    const taken = Math.min(calls - offset, limit);
    const [fromMs, beforeMs] = [day * DAY_MS, (day + 1) * DAY_MS];
    const newer = spans.at(-1);
    if (newer?.fromMs === beforeMs) {
      spans[spans.length - 1] = { ...newer, fromMs, limit: newer.limit + taken };
    } else {
      spans.push({ fromMs, beforeMs, offset, limit: taken });
    }
    limit -= taken;
    offset = 0;
  }
  return spans;
}

/**
 * A search for words looks at this many calls, the newest in which all of them were said: the most common word of a hundred
 * thousand calls must not hold up the database.
 */
const MATCHES_MAX = 10_000;

/** The condition on a row of `calls`. */
function matches(search: CallSearch, scope: Scope): RawBuilder<boolean> {
  if (search.kind === 'id') {
    return sql<boolean>`substr(id, 1, ${search.prefix.length}) = ${search.prefix}`;
  }
  if (search.kind === 'number') {
    const { digits } = search;
    return sql<boolean>`(instr(from_number, ${digits}) > 0 or instr(to_number, ${digits}) > 0)`;
  }
  const words = search.words.map(({ word, isPrefix }) => `${quoted(word)}${isPrefix ? '*' : ''}`);
  const owner = quoted(`${scope.accountId}_${scope.environment}`);
  const match = `owner : ${owner} AND words : (${words.join(' AND ')})`;
  return sql<boolean>`id in (select call_id from call_documents where number in
    (select rowid from call_words where call_words match ${match} order by rowid desc limit ${MATCHES_MAX}))`;
}

/** @see https://sqlite.org/fts5.html#full_text_query_syntax */
function quoted(word: string): string {
  return `"${word.replaceAll('"', '""')}"`;
}

/** Calls of one transaction: a few milliseconds of the thread that calls share. */
const BATCH = 100;

const [PAUSE_MS, BACKLOG_PAUSE_MS] = [2000, 500];

/** Indexes calls that ended lately, of which triggers keep a list. @returns whether there are more. */
async function indexEndedCalls(database: Queries): Promise<boolean> {
  const due = build.selectFrom('call_documents_due').select('call_id').limit(BATCH);
  if ((await database.get(due)) === undefined) return false;
  return database.transaction(async (transaction) => {
    const ids = (await transaction.all(due)).map(({ call_id: id }) => id);
    const owner = sql<string>`calls.account_id || '_' || calls.environment`;
    const words = sql<string>`group_concat(transcript_entries.text, char(10))`;
    const documents = build
      .selectFrom('calls')
      .innerJoin('transcript_entries', 'transcript_entries.call_id', 'calls.id')
      .select(['calls.id', owner.as('owner'), words.as('words')])
      .where('calls.id', 'in', ids)
      .groupBy('calls.id');
    const columns = ['call_id', 'owner', 'words'] as const;
    await transaction.run(
      build.insertInto('call_documents').columns(columns).expression(documents).orIgnore(),
    );
    await transaction.run(build.deleteFrom('call_documents_due').where('call_id', 'in', ids));
    return ids.length === BATCH;
  });
}

/** Indexes before a search, so that it finds calls that have just ended. Without the write lock, it finds those indexed before. */
async function indexBeforeSearch(database: Queries): Promise<void> {
  try {
    await indexEndedCalls(database);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

/** Indexes every two seconds. @returns ends it, and resolves at the end of the round in progress. */
export function indexRegularly(
  database: Queries,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): () => Promise<void> {
  const run = async () => {
    try {
      return (await indexEndedCalls(database)) ? BACKLOG_PAUSE_MS : PAUSE_MS;
    } catch (error) {
      log.warn({ err: error }, 'database: calls not indexed for search; tried again later');
      return PAUSE_MS;
    }
  };
  const rounds = new Repeater({ clock, run });
  rounds.askIn(PAUSE_MS);
  return () => rounds.stop();
}
