/** The condition of SQL for a search of calls. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { CallSearch } from '../../domain/call/call-search.ts';

/**
 * A search for words looks at this many calls, the newest in which all of them were said: the most common word of a hundred
 * thousand calls must not hold up the database.
 */
export const MATCHES_MAX = 10_000;

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
