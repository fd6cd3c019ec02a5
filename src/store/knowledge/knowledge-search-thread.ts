/** The thread behind `KnowledgeSearch`: reads the database by a connection of its own, so that no search holds calls up. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import {
  type PassageHit,
  passageQuery,
  type QuestionVector,
  vectorQuery,
} from './passage-queries.ts';

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
      answer = { id, problem: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(answer);
  });
}

if (parentPort !== null) run(parentPort, workerData);
