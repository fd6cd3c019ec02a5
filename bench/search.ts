/** The first page of a search among many calls with its total, against LIKE on every sentence. */
import Sqlite from 'better-sqlite3';
import type { CallQuery } from '../src/domain/call/call.ts';
import { searchOf } from '../src/domain/call/call-search.ts';
import { ACCOUNT, makeCallHistory, openHistory } from './lib/call-history.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  pairedRuns,
  printJson,
  type Row,
  ratios,
  type Target,
} from './lib/harness.ts';
import { costOf, middle } from './lib/query-cost.ts';

const SCOPE = { accountId: ACCOUNT, environment: 'live' } as const;

const LIMIT = 20;

/** Words by how many of the calls have them: `w0` nearly all, `w2a5` few. */
const SEARCHES: readonly { readonly what: string; readonly query: Partial<CallQuery> }[] = [
  ...['w0', 'w5', 'w2a5', 'w0 w5 w2a5', '+1 202 555 0123', 'call_0000'].map((text) => ({
    what: text,
    query: searchQuery(text),
  })),
  { what: 'w5, failed', query: { ...searchQuery('w5'), status: 'failed' } },
  { what: 'endReason no_answer', query: { endReason: 'no_answer' } },
  { what: 'at least 300 s', query: { minDurationSeconds: 300 } },
];

/** `npm run bench -- search [--calls 100000] [--pairs 3] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const history = await makeCallHistory({ calls: numberArg(args, 'calls', 100_000), days: 365 });
  const rows: Row[] = [];
  const targets: Target[] = [];
  addWords(history.file);
  const store = await openHistory(history.file);
  const sqlite = new Sqlite(history.file, { readonly: true });
  const plain = new PlainSearch(sqlite);
  try {
    for (const { what, query } of SEARCHES) {
      const page = { limit: LIMIT, offset: 0, ...query };
      const pairs = await pairedRuns({
        pairs: numberArg(args, 'pairs', 3),
        a: () => costOf(() => store.calls.list(SCOPE, page), 5),
        b: () => costOf(() => plain.find(what), 1),
      });
      printJson({ bench: 'search', what, pairs });
      const wallMs = middle(
        pairs.map(({ a }) => a),
        (cost) => cost.wallMs,
      );
      const { total } = await store.calls.list(SCOPE, page);
      const ratio = ratios(pairs, (cost) => cost.wallMs);
      rows.push({ search: what, total, 'page ms': wallMs, 'of LIKE': ratio.median });
      targets.push({ name: `${what}: page ms`, value: wallMs, limit: 300, tolerance: 0.1 });
    }
  } finally {
    sqlite.close();
    await store.close();
    history.remove();
  }
  console.log(markdownTable(rows));
  checkTargets(args, targets);
}

function searchQuery(text: string): Partial<CallQuery> {
  const search = searchOf(text);
  if (search === undefined) throw new Error(`Cannot search for "${text}"`);
  return { search };
}

/** Ten sentences of twelve words a call, of a vocabulary in which few words are frequent. */
function addWords(file: string): void {
  const sqlite = new Sqlite(file);
  sqlite.pragma('synchronous=OFF');
  const chance = chanceFrom(20_261_126);
  sqlite.function('sentence', { deterministic: false }, () =>
    Array.from({ length: 12 }, () => `w${Math.floor(3000 * chance() ** 3).toString(36)}`).join(' '),
  );
  try {
    sqlite.exec(`begin;
      with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 9)
      insert into transcript_entries (call_id, role, text, at) select id, 'user', sentence(), sort_at from calls, numbers;
      insert into call_documents (call_id, owner, words)
        select id, '${ACCOUNT}_live', group_concat(text, char(10))
        from calls join transcript_entries on call_id = id group by id order by sort_at;
      commit; analyze`);
  } finally {
    sqlite.close();
  }
}

/** The same numbers in every run. */
function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What one writes first: LIKE on every sentence, for a page and its total. */
class PlainSearch {
  readonly #page: Sqlite.Statement;
  readonly #count: Sqlite.Statement;

  constructor(sqlite: Sqlite.Database) {
    const from = `from calls where account_id = '${ACCOUNT}' and environment = 'live' and exists (
      select 1 from transcript_entries where call_id = calls.id and text || ' ' like ?)`;
    this.#page = sqlite.prepare(`select * ${from} order by sort_at desc limit ${LIMIT}`);
    this.#count = sqlite.prepare(`select count(*) ${from}`);
  }

  find(word: string): unknown {
    return [this.#page.all(`%${word} %`), this.#count.get(`%${word} %`)];
  }
}

if (import.meta.main) await run(process.argv.slice(2));
