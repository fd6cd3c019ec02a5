/** The thread behind `KnowledgeSearch`: finds passages by words (FTS5) and by vectors, on a connection of its own. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { FoundPassage } from '../../domain/knowledge/knowledge.ts';
import { messageOf } from '../../lib/unknown-value.ts';

/** A found passage with the row that it is kept in. */
export interface PassageHit extends FoundPassage {
  readonly id: number;
}

/** Words of a question that are looked for: the last ones of a long speech, where the question usually is. */
const WORDS_MAX = 32;

/** Weights of agent, heading and text in BM25: a word of the heading is what the passage is about. */
const RANKING = 'bm25(0.0, 2.0, 1.0)';

const FIND_BY_WORDS = `
  select p.id, d.name as documentName, d.version, p.number, p.heading, p.text
  from (select rowid, rank from knowledge_index
    where knowledge_index match ? and rank match '${RANKING}' order by rank limit ?) as hit
  join knowledge_passages p on p.id = hit.rowid
  join knowledge_documents d on d.id = p.document_id
  where p.agent_id = ? order by hit.rank`;

/** Prepares the query on an open database. @returns finds passages, best first. */
function passageQuery(
  sqlite: Sqlite.Database,
): (agentId: string, question: string, limit: number) => readonly PassageHit[] {
  const statement = sqlite.prepare<unknown[], PassageHit>(FIND_BY_WORDS);
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

/** Numbers of all vectors that are kept in memory: 64 MiB. */
const NUMBERS_MAX = 16 * 1024 * 1024;

/** Least similarity: a passage below it is on another subject than the question. */
const SIMILARITY_MIN = 0.2;

interface Vectors {
  /** Changes with the agent's passages. */
  readonly stamp: string;
  readonly ids: readonly number[];
  /** One after the other, each of length 1. */
  readonly numbers: Float32Array;
}

/** A question's vector, and the model that it and the passages' vectors are of. */
export interface QuestionVector {
  readonly model: string;
  readonly vector: Float32Array;
}

const STAMP = `
  select count(*) || '/' || coalesce(max(v.passage_id), 0) || '/' || coalesce(sum(v.passage_id), 0)
  from knowledge_passages p join knowledge_vectors v on v.passage_id = p.id
  where p.agent_id = ? and v.model = ?`;

const READ = `
  select v.passage_id as id, v.vector
  from knowledge_passages p join knowledge_vectors v on v.passage_id = p.id
  where p.agent_id = ? and v.model = ?`;

const FIND_BY_ID = `
  select p.id, d.name as documentName, d.version, p.number, p.heading, p.text
  from knowledge_passages p join knowledge_documents d on d.id = p.document_id where p.id = ?`;

/** Prepares the search on an open database. @returns finds passages, nearest first. */
function vectorQuery(
  sqlite: Sqlite.Database,
): (agentId: string, question: QuestionVector, limit: number) => readonly PassageHit[] {
  const find = sqlite.prepare<unknown[], PassageHit>(FIND_BY_ID);
  const kept = new KeptVectors(sqlite);
  return (agentId, { model, vector }, limit) => {
    const { ids, numbers } = kept.of(agentId, model);
    if (numbers.length !== ids.length * vector.length) return [];
    const nearest = nearestTo(vector, { ids, numbers }, limit);
    return nearest.flatMap((id) => find.get(id) ?? []);
  };
}

/** Vectors of the agents that were asked last. */
class KeptVectors {
  readonly #stamp: Sqlite.Statement<unknown[], unknown>;
  readonly #read: Sqlite.Statement<unknown[], { readonly id: number; readonly vector: Buffer }>;
  /** Vectors by agent and model, least recently used first. */
  readonly #kept = new Map<string, Vectors>();

  constructor(sqlite: Sqlite.Database) {
    this.#stamp = sqlite.prepare(STAMP).pluck();
    this.#read = sqlite.prepare(READ);
  }

  of(agentId: string, model: string): Vectors {
    const key = `${agentId} ${model}`;
    const stamp = String(this.#stamp.get(agentId, model));
    const known = this.#kept.get(key);
    const vectors = known?.stamp === stamp ? known : this.#readAll(agentId, model, stamp);
    this.#kept.delete(key);
    this.#kept.set(key, vectors);
    this.#forgetOldest();
    return vectors;
  }

  #readAll(agentId: string, model: string, stamp: string): Vectors {
    const rows = this.#read.all(agentId, model);
    const bytes = Buffer.concat(rows.map(({ vector }) => vector));
    // A copy, because the concatenation need not begin at a multiple of four.
    const numbers = new Float32Array(new Uint8Array(bytes).buffer);
    return { stamp, ids: rows.map(({ id }) => id), numbers };
  }

  #forgetOldest(): void {
    let sum = 0;
    for (const { numbers } of this.#kept.values()) sum += numbers.length;
    for (const [key, { numbers }] of this.#kept) {
      if (sum <= NUMBERS_MAX || this.#kept.size === 1) return;
      this.#kept.delete(key);
      sum -= numbers.length;
    }
  }
}

function nearestTo(
  vector: Float32Array,
  { ids, numbers }: Pick<Vectors, 'ids' | 'numbers'>,
  limit: number,
): readonly number[] {
  const scored = ids.map((id, index) => ({ id, score: product(vector, numbers, index) }));
  return scored
    .filter(({ score }) => score >= SIMILARITY_MIN)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ id }) => id);
}

/** Dot product with the vector at `index`: their cosine, because both have the length 1. */
function product(vector: Float32Array, numbers: Float32Array, index: number): number {
  let sum = 0;
  const from = index * vector.length;
  for (let at = 0; at < vector.length; at += 1)
    sum += (vector[at] ?? 0) * (numbers[from + at] ?? 0);
  return sum;
}

/** Start parameters of the thread. */
export interface SearchOrder {
  readonly file: string;
}

/** Message to the thread: a question in words, or its vector. */
export interface SearchRequest {
  readonly id: number;
  readonly agentId: string;
  readonly question: string | QuestionVector;
  readonly limit: number;
}

/** Message from the thread: one for each request, in order. */
export type SearchAnswer =
  | { readonly id: number; readonly hits: readonly PassageHit[] }
  | { readonly id: number; readonly problem: string };

/** The index of some millions of characters; SQLite's default of 2 MiB would read the file for each question. */
const CACHE_KIB = 32_768;

function run(port: MessagePort, { file }: SearchOrder): void {
  const sqlite = new Sqlite(file, { readonly: true, fileMustExist: true });
  sqlite.pragma(`cache_size=-${CACHE_KIB}`);
  const byWords = passageQuery(sqlite);
  const byVector = vectorQuery(sqlite);
  const find = ({ agentId, question, limit }: SearchRequest) =>
    typeof question === 'string'
      ? byWords(agentId, question, limit)
      : byVector(agentId, question, limit);
  port.on('message', (request: SearchRequest) => {
    const { id } = request;
    let answer: SearchAnswer;
    try {
      answer = { id, hits: find(request) };
    } catch (error) {
      answer = { id, problem: messageOf(error) };
    }
    port.postMessage(answer);
  });
}

if (parentPort !== null) run(parentPort, workerData);
