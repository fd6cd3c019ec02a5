/** Row 14, list-deep: pages far down a list of calls and its total, against a plain OFFSET and a count. */
import Sqlite from 'better-sqlite3';
import type { CallQuery } from '../src/domain/call/call.ts';
import type { Store } from '../src/store/store.ts';
import {
  ACCOUNT,
  AGENT,
  type CallHistory,
  makeCallHistory,
  openHistory,
} from './lib/call-history.ts';
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

const DAYS = 365;

const LIMIT = 20;

type Filter = Pick<CallQuery, 'agentId' | 'status' | 'direction'>;

/** A page, how deep it lies as a share of all calls, and most of what it may cost as a share of the plain way. */
interface Page {
  readonly filter: Filter;
  readonly depth: number;
  readonly ratioMax?: number;
}

const PAGES: readonly Page[] = [
  { filter: {}, depth: 0 },
  { filter: {}, depth: 0.001 },
  { filter: {}, depth: 0.01 },
  { filter: {}, depth: 0.1 },
  { filter: {}, depth: 0.5, ratioMax: 0.05 },
  { filter: { agentId: AGENT }, depth: 0.04 },
  { filter: { status: 'failed' }, depth: 0.05 },
  { filter: { status: 'failed', direction: 'outbound' }, depth: 0.02 },
  { filter: { status: 'ringing' }, depth: 0 },
];

/** `npm run bench -- list-deep [--calls 1000000] [--pairs 5] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const calls = numberArg(args, 'calls', 1_000_000);
  const history = await makeCallHistory({ calls, days: DAYS });
  const rows: Row[] = [];
  const targets: Target[] = [];
  try {
    for (const page of PAGES) {
      const offset = Math.round(calls * page.depth);
      const { row, found } = await turn(history, {
        page,
        offset,
        pairs: numberArg(args, 'pairs', 5),
      });
      rows.push(row);
      targets.push(...found);
    }
  } finally {
    history.remove();
  }
  console.log(markdownTable(rows));
  checkTargets(args, targets);
}

async function turn(
  history: CallHistory,
  options: { readonly page: Page; readonly offset: number; readonly pairs: number },
): Promise<{ readonly row: Row; readonly found: readonly Target[] }> {
  const { page, offset, pairs } = options;
  const store = await openHistory(history.file);
  const plain = new PlainList(history.file, page.filter);
  try {
    const pages = await pairedRuns({
      pairs,
      a: () => costOf(() => list(store, page.filter, offset), 100),
      b: () => costOf(() => plain.page(offset), 10),
    });
    // Behind the last call there is no page: what remains is the total.
    const totals = await pairedRuns({
      pairs,
      a: () => costOf(() => list(store, page.filter, Number.MAX_SAFE_INTEGER), 200),
      b: () => costOf(() => plain.count(), 5),
    });
    const filter = Object.entries(page.filter).join(' ').replaceAll(',', '=') || 'none';
    for (const pair of pages)
      printJson({ bench: 'list-deep', what: 'page', filter, offset, ...pair });
    for (const pair of totals) printJson({ bench: 'list-deep', what: 'total', filter, ...pair });
    const wall = (runs: typeof pages, side: 'a' | 'b') =>
      middle(
        runs.map((pair) => pair[side]),
        ({ wallMs }) => wallMs,
      );
    const ratio = ratios(pages, ({ wallMs }) => wallMs);
    const totalMs = wall(totals, 'a');
    const row = {
      filter,
      offset,
      'page with total ms': wall(pages, 'a'),
      'plain page ms': wall(pages, 'b'),
      ratio: ratio.median,
      min: ratio.min,
      max: ratio.max,
      'total ms': totalMs,
      'count(*) ms': wall(totals, 'b'),
    };
    const name = `filter ${filter}, offset ${offset}`;
    const found: Target[] = [
      { name: `${name}: total ms`, value: totalMs, limit: 0.3, tolerance: 0.2 },
    ];
    const { ratioMax: limit } = page;
    if (limit !== undefined) {
      found.push({ name: `${name}: against OFFSET`, value: ratio.median, limit, tolerance: 0.1 });
    }
    return { row, found };
  } finally {
    plain.close();
    await store.close();
  }
}

async function list(store: Store, filter: Filter, offset: number): Promise<unknown> {
  const scope = { accountId: ACCOUNT, environment: 'live' } as const;
  return store.calls.list(scope, { ...filter, limit: LIMIT, offset });
}

/** The usual first implementation: a page with OFFSET, and a count. */
class PlainList {
  readonly #sqlite: Sqlite.Database;
  readonly #page: Sqlite.Statement;
  readonly #count: Sqlite.Statement;

  constructor(file: string, { agentId, status, direction }: Filter) {
    this.#sqlite = new Sqlite(file, { readonly: true });
    const conditions = Object.entries({ agent_id: agentId, status, direction })
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => ` and ${column} = '${value}'`)
      .join('');
    const from = `from calls where account_id = '${ACCOUNT}' and environment = 'live'${conditions}`;
    this.#page = this.#sqlite.prepare(
      `select *, exists (select 1 from transcript_entries where call_id = calls.id)
      ${from} order by sort_at desc, id desc limit ${LIMIT} offset ?`,
    );
    this.#count = this.#sqlite.prepare(`select count(*) ${from}`);
  }

  page(offset: number): unknown {
    return this.#page.all(offset);
  }

  count(): unknown {
    return this.#count.get();
  }

  close(): void {
    this.#sqlite.close();
  }
}

if (import.meta.main) await run(process.argv.slice(2));
