/** The query of the full text index (FTS5): passages of one agent that share words with a question. */
import type Sqlite from 'better-sqlite3';
import type { FoundPassage } from '../../domain/knowledge/knowledge.ts';

/** A found passage with the row that it is kept in. */
export interface PassageHit extends FoundPassage {
  readonly id: number;
}

/** Words of a question that are looked for: the last ones of a long speech, where the question usually is. */
const WORDS_MAX = 32;

/** Weights of agent, heading and text in BM25: a word of the heading is what the passage is about. */
const RANKING = 'bm25(0.0, 2.0, 1.0)';

const FIND = `
  select p.id, d.name as documentName, d.version, p.number, p.heading, p.text
  from (select rowid, rank from knowledge_index
    where knowledge_index match ? and rank match '${RANKING}' order by rank limit ?) as hit
  join knowledge_passages p on p.id = hit.rowid
  join knowledge_documents d on d.id = p.document_id
  where p.agent_id = ? order by hit.rank`;

/** Prepares the query on an open database. @returns finds passages, best first. */
export function passageQuery(
  sqlite: Sqlite.Database,
): (agentId: string, question: string, limit: number) => readonly PassageHit[] {
  const statement = sqlite.prepare<unknown[], PassageHit>(FIND);
  return (agentId, question, limit) => {
    const match = matchOf(agentId, question);
    return match === undefined ? [] : statement.all(match, limit, agentId);
  };
}

/** The expression of FTS5: any of the words. They are quoted, so that none is an operator. */
function matchOf(agentId: string, question: string): string | undefined {
  const words = question
    .toLowerCase()
    .normalize('NFC')
    .match(/[\p{L}\p{N}]+/gu);
  const telling = [...new Set(words)].slice(-WORDS_MAX);
  if (telling.length === 0) return undefined;
  const any = telling.map((word) => `"${word}"`).join(' OR ');
  return `agent_word : "${agentId.replaceAll('_', '')}" AND {heading text} : (${any})`;
}
