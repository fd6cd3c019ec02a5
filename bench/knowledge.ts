/** Knowledge: 200 questions over ten public-domain texts, found by our search and by plain full text search. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { contentOf, type PassageSearch } from '../src/domain/knowledge/knowledge.ts';
import type { Passage } from '../src/domain/knowledge/passages.ts';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { UNCOUNTED } from '../src/lib/metrics/model-metrics.ts';
import type { Embedder } from '../src/llm/embeddings/embedder.ts';
import { EmbeddingServer } from '../src/llm/embeddings/embedding-server.ts';
import { KnowledgeSearch } from '../src/store/knowledge/knowledge-search.ts';
import type { Store } from '../src/store/store.ts';
import { AgentSearch } from '../src/tool/knowledge/agent-search.ts';
import { PassageEmbedder } from '../src/tool/knowledge/passage-embedder.ts';
import { type Book, documentOf, readBooks } from './lib/bible-books.ts';
import { checkTargets, markdownTable, percentile, printJson, textArg } from './lib/harness.ts';
import { openKnowledgeStore } from './lib/knowledge-store.ts';
import { isInstalled } from './lib/native-tool.ts';

const QUESTIONS = join(import.meta.dirname, 'lib/knowledge-questions.txt');

/** Of a result, what a request to the model has at most. */
const FOUND = 5;

const LOOKUP_MS_MAX = 50;

interface Question {
  readonly text: string;
  /** Verses any of which answers it. */
  readonly answers: readonly string[];
}

type Find = (question: string) => Promise<readonly string[]>;

/**
 * `npm run bench -- knowledge [--program bible] [--data FOLDER] [--embeddings URL --model NAME] [--gate]`. The texts are those of
 * Debian's `bible-kjv`; the questions were written by hand in today's words, each with the verses that answer it. With the
 * address of an Ollama, its vectors are joined in.
 */
export async function run(args: readonly string[]): Promise<void> {
  const program = textArg(args, 'program') ?? 'bible';
  if (!isInstalled(program)) {
    console.log('skipped: no program "bible" (Debian: apt install bible-kjv)');
    return;
  }
  const books = readBooks(program, textArg(args, 'data'));
  const questions = questionsOf(books);
  const { store, file, agentId, remove } = await openKnowledgeStore();
  const index = new KnowledgeSearch({ file, clock: systemClock, log: silentLogger });
  try {
    const passages = await saveBooks(store, agentId, books);
    const embedder = embedderOf(args);
    const search = (by: Embedder | undefined) =>
      asFind(new AgentSearch({ ...PARTS, agentId, language: 'en', index, embedder: by }));
    const rows = [
      await measure('plain FTS5', plainSearch(passages), questions),
      await measure('ours, words', search(undefined), questions),
    ];
    if (embedder !== undefined) {
      await embedAll(store, embedder);
      rows.push(await measure(`ours, words and ${embedder.name}`, search(embedder), questions));
    }
    report(args, rows, { passages: passages.length, questions: questions.length });
  } finally {
    await index.stop();
    await store.close();
    remove();
  }
}

const PARTS = { counts: UNCOUNTED, clock: systemClock, log: silentLogger };

/** @throws {Error} naming a question whose verses are not in the texts. */
function questionsOf(books: readonly Book[]): readonly Question[] {
  const lines = readFileSync(QUESTIONS, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [place = '', text = ''] = line.split('|');
    const found = /^(.+) (\d+):(\d+)(?:-(\d+))?$/.exec(place);
    const [, name, chapter, first, last = first] = found ?? [];
    const answers = (books.find((book) => book.name === name)?.verses ?? [])
      .filter((verse) => verse.chapter === Number(chapter))
      .filter(({ verse }) => verse >= Number(first) && verse <= Number(last));
    if (answers.length === 0) throw new Error(`Cannot find the answer of "${line}" in the texts`);
    return { text, answers: answers.map(({ text: words }) => words) };
  });
}

async function saveBooks(
  store: Store,
  agentId: string,
  books: readonly Book[],
): Promise<readonly Passage[]> {
  const all: Passage[] = [];
  for (const [number, book] of books.entries()) {
    const content = contentOf(documentOf(book));
    const scope = { accountId: 'acct_1', environment: 'live', agentId } as const;
    const facts = { id: `doc_${number}`, name: book.name, now: systemClock.now() };
    await store.knowledge.save({ ...scope, ...facts, mediaType: 'text/markdown' }, content);
    all.push(...content.passages);
  }
  return all;
}

/** FTS5 as its manual shows it: the same passages, all words of the question, BM25. */
function plainSearch(passages: readonly Passage[]): Find {
  const sqlite = new Sqlite(':memory:');
  sqlite.exec('create virtual table passages using fts5 (text)');
  const add = sqlite.prepare('insert into passages (text) values (?)');
  for (const { text } of passages) add.run(text);
  const find = sqlite
    .prepare('select text from passages where passages match ? order by rank limit ?')
    .pluck();
  return async (question) => {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    return find.all(words.map((word) => `"${word}"`).join(' OR '), FOUND) as string[];
  };
}

function asFind(search: PassageSearch): Find {
  return async (question) => (await search.find(question, LOOKUP_MS_MAX)).map(({ text }) => text);
}

function embedderOf(args: readonly string[]): Embedder | undefined {
  const [url, model] = [textArg(args, 'embeddings'), textArg(args, 'model')];
  if (url === undefined || model === undefined) return undefined;
  return new EmbeddingServer({ protocol: 'ollama', url, model });
}

async function embedAll(store: Store, embedder: Embedder): Promise<void> {
  const rounds = new PassageEmbedder({
    ...{ store: store.knowledge, embedder },
    ...{ clock: systemClock, log: silentLogger },
  });
  rounds.start();
  while ((await store.knowledge.withoutVector(embedder.name, 1)).length > 0) {
    await new Promise<void>((resolve) => systemClock.after(200, resolve));
  }
  await rounds.stop();
}

/** @param questions are asked twice: the first time only warms up. */
async function measure(name: string, find: Find, questions: readonly Question[]) {
  for (const { text } of questions) await find(text);
  const tookMs: number[] = [];
  let first = 0;
  let found = 0;
  for (const { text, answers } of questions) {
    const startMs = systemClock.nowMs();
    const hits = await find(text);
    tookMs.push(systemClock.nowMs() - startMs);
    const place = hits.findIndex((hit) => answers.some((answer) => holds(hit, answer)));
    if (place === 0) first += 1;
    if (place >= 0) found += 1;
  }
  const share = (count: number) => count / questions.length;
  return {
    search: name,
    'recall@5': share(found),
    'recall@1': share(first),
    'p50 ms': percentile(tookMs, 50),
    'p95 ms': percentile(tookMs, 95),
  };
}

/** A long verse may be parted between two passages: its beginning counts. */
function holds(passage: string, verse: string): boolean {
  return passage.includes(verse.slice(0, 40));
}

type Result = Awaited<ReturnType<typeof measure>>;

function report(
  args: readonly string[],
  rows: readonly Result[],
  counts: { readonly passages: number; readonly questions: number },
): void {
  console.log(markdownTable(rows));
  printJson({ bench: 'knowledge', ...counts, rows });
  const [plain, ...ours] = rows;
  const best = Math.max(...ours.map((row) => row['recall@5']));
  checkTargets(args, [
    {
      name: 'recall@5 of plain FTS5 over ours',
      value: (plain?.['recall@5'] ?? Number.NaN) / best,
      limit: 1,
      tolerance: 0,
    },
    {
      name: 'look-up p95, ms',
      value: Math.max(...ours.map((row) => row['p95 ms'])),
      limit: LOOKUP_MS_MAX,
      tolerance: 0.1,
    },
  ]);
}
