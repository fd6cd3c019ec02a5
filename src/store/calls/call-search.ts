/** The search of calls: its condition in SQL, and the index of words that calls enter some at a time when they are over. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { CallSearch } from '../../domain/call/call-search.ts';
import { StoreError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';

/**
 * A search for words looks at this many calls, the newest in which all of them were said: the most common word of a hundred
 * thousand calls must not hold up the database.
 */
const MATCHES_MAX = 10_000;

/** The condition on a row of `calls`. */
export function matches(search: CallSearch, scope: Scope): RawBuilder<boolean> {
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

/** Indexes before a search, so that it finds what has just ended. Without the write lock it finds what was indexed before. */
export async function indexBeforeSearch(database: Queries): Promise<void> {
  try {
    await indexEndedCalls(database);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

/** Indexes every two seconds. @returns ends it. */
export function indexRegularly(
  database: Queries,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): () => void {
  let isStopped = false;
  let cancel = clock.after(PAUSE_MS, () => void next());
  async function next(): Promise<void> {
    let isMore = false;
    try {
      isMore = await indexEndedCalls(database);
    } catch (error) {
      log.warn({ err: error }, 'database: calls not indexed for search; tried again later');
    }
    if (!isStopped) cancel = clock.after(isMore ? BACKLOG_PAUSE_MS : PAUSE_MS, () => void next());
  }
  return () => {
    isStopped = true;
    cancel();
  };
}
