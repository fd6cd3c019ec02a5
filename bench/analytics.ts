/** Row 13, analytics: sums kept by day against a scan of a covering index, as calls grow a thousandfold; and the details. */
import Sqlite from 'better-sqlite3';
import { readDetails, serializeAnalytics } from '../src/api/routes/analytics-routes.ts';
import type { Scope } from '../src/domain/agent/agent.ts';
import { reportOf, type UsageQuery } from '../src/domain/analytics/analytics-report.ts';
import { type Period, periodOf } from '../src/domain/analytics/period.ts';
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
  type RatioSummary,
  type Row,
  ratios,
  type Target,
} from './lib/harness.ts';
import { costOf, middle } from './lib/query-cost.ts';

const DAYS = 30;

const DAY_MS = 86_400_000;

/** Days and hours of this zone; clocks change in many of the years that it could be asked for. */
const ZONE = 'Europe/Rome';

const SCOPE: Scope = { accountId: ACCOUNT, environment: 'live' };

/** What is asked; the scan has an index for the filter. */
const QUESTIONS = ['30 days', 'one agent', 'custom 7 days'] as const;

type Question = (typeof QUESTIONS)[number];

/** `GET /api/analytics/details` of a period. */
interface FoundDetails {
  readonly calls: number;
  readonly period: string;
  readonly wallMs: number;
}

interface Found {
  readonly calls: number;
  readonly question: Question;
  readonly oursMs: number;
  readonly scanMs: number;
  readonly cpu: RatioSummary;
}

/** `npm run bench -- analytics [--calls 1000000] [--pairs 5] [--gate]`; a tenth and a thousandth of the calls as well. */
export async function run(args: readonly string[]): Promise<void> {
  const most = numberArg(args, 'calls', 1_000_000);
  const found: Found[] = [];
  const details: FoundDetails[] = [];
  for (const calls of [most / 1000, most / 10, most].map(Math.round)) {
    const history = await makeCallHistory({ calls, days: DAYS });
    try {
      found.push(...(await askAll(history, { calls, pairs: numberArg(args, 'pairs', 5) })));
      details.push(...(await askDetails(history, calls)));
    } finally {
      history.remove();
    }
  }
  console.log(markdownTable(found.map(rowOf)));
  console.log(markdownTable(details.map((one) => ({ ...one }))));
  checkTargets(args, [...targetsOf(found, most), ...detailTargets(details, most)]);
}

async function askAll(
  history: CallHistory,
  options: { readonly calls: number; readonly pairs: number },
): Promise<readonly Found[]> {
  const { calls, pairs } = options;
  const store = await openHistory(history.file);
  const scan = new Scan(history.file);
  const found: Found[] = [];
  try {
    for (const question of QUESTIONS) {
      const usage = usageOf(question, history.endsAt);
      const runs = await pairedRuns({
        pairs,
        a: () => costOf(() => answer(store, usage), 200),
        b: () => costOf(() => scan.answer(usage), scanRuns(calls)),
      });
      for (const pair of runs) printJson({ bench: 'analytics', calls, question, ...pair });
      const cost = (side: 'a' | 'b') =>
        middle(
          runs.map((pair) => pair[side]),
          (one) => one.wallMs,
        );
      const cpu = ratios(runs, ({ cpuMs }) => cpuMs);
      found.push({ calls, question, oursMs: cost('a'), scanMs: cost('b'), cpu });
    }
  } finally {
    scan.close();
    await store.close();
  }
  return found;
}

/** 30 days, and a whole year, in which the calls of 30 days lie. */
async function askDetails(history: CallHistory, calls: number): Promise<readonly FoundDetails[]> {
  const store = await openHistory(history.file);
  const now = new Date(history.endsAt.getTime() - 1);
  const year = { firstDay: dateBefore(now, 365), lastDay: dateBefore(now, 0) };
  const periods = [
    ['30 days', periodOf('last_30_days', now)] as const,
    ['366 days', year] as const,
  ];
  try {
    const found: FoundDetails[] = [];
    for (const [period, days] of periods) {
      const { wallMs } = await costOf(() => answerDetails(store, days, now), 5);
      found.push({ calls, period, wallMs });
    }
    return found;
  } finally {
    await store.close();
  }
}

function answerDetails(store: Store, period: Period, now: Date): Promise<unknown> {
  return readDetails(store.quarterHours, SCOPE, { period, timeZone: ZONE, now });
}

function dateBefore(now: Date, days: number): string {
  return new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10);
}

/** A scan of few calls is too short to be measured once. */
function scanRuns(calls: number): number {
  return Math.min(200, Math.max(3, Math.round(1_000_000 / calls)));
}

function usageOf(question: Question, endsAt: Date): UsageQuery {
  const lastMoment = new Date(endsAt.getTime() - 1);
  const month = periodOf('last_30_days', lastMoment);
  switch (question) {
    case '30 days':
      return month;
    case 'one agent':
      return { ...month, agentId: AGENT };
    case 'custom 7 days':
      return periodOf('last_7_days', new Date(endsAt.getTime() - 10 * DAY_MS));
    default:
      return question satisfies never;
  }
}

/** All that the route does, but for reading the request and writing the answer. */
async function answer(store: Store, usage: UsageQuery): Promise<unknown> {
  return serializeAnalytics(
    reportOf({
      period: usage,
      days: await store.analytics.days(SCOPE, usage),
      intents: await store.analytics.intents(SCOPE, usage),
      month: await store.analytics.days(SCOPE, monthOf(usage)),
      minutesIncluded: 1000,
    }),
  );
}

/** The calendar month so far, as on the last day that is asked for. */
function monthOf(usage: UsageQuery): Period {
  return periodOf('this_month', new Date(usage.lastDay));
}

/** The same answers from the calls themselves, each from an index that has all that it needs. */
class Scan {
  readonly #sqlite: Sqlite.Database;

  constructor(file: string) {
    this.#sqlite = new Sqlite(file);
    const sums =
      'sort_at, direction, status, answered_at, ended_at, duration_seconds, sentiment_score, intent_detected';
    this.#sqlite.exec(`
      create index scan_by_time on calls (account_id, environment, ${sums});
      create index scan_by_agent on calls (account_id, environment, agent_id, ${sums});
      analyze`);
  }

  answer(usage: UsageQuery): unknown {
    const { agentId } = usage;
    const index = agentId === undefined ? 'scan_by_time' : 'scan_by_agent';
    const from = `from calls indexed by ${index} where account_id = '${ACCOUNT}' and environment = 'live'
      ${agentId === undefined ? '' : `and agent_id = '${agentId}'`} and sort_at >= ? and sort_at < ?`;
    const range = [Date.parse(usage.firstDay), Date.parse(usage.lastDay) + DAY_MS];
    return [
      this.#sqlite
        .prepare(
          `select sort_at / ${DAY_MS} as day, count(*), sum(direction = 'inbound'), sum(direction = 'outbound'),
            sum(status = 'completed'), sum(answered_at is null), sum(duration_seconds), avg(sentiment_score)
          ${from} group by day`,
        )
        .all(range),
      this.#sqlite
        .prepare(`select intent_detected, count(*) ${from} group by 1 order by 2 desc limit 10`)
        .all(range),
    ];
  }

  close(): void {
    this.#sqlite.close();
  }
}

function rowOf({ calls, question, oursMs, scanMs, cpu }: Found): Row {
  return {
    calls,
    question,
    'ours ms': oursMs,
    'covering index ms': scanMs,
    'CPU ratio': cpu.median,
    min: cpu.min,
    max: cpu.max,
    pairs: cpu.pairs,
  };
}

function targetsOf(found: readonly Found[], most: number): readonly Target[] {
  const of = (question: Question, pick: (one: Found) => boolean) =>
    found.find((one) => one.question === question && pick(one));
  const targets = QUESTIONS.flatMap((question): Target[] => {
    const largest = of(question, ({ calls }) => calls === most);
    const smallest = of(question, ({ calls }) => calls < most / 100);
    const ours = largest?.oursMs ?? Number.NaN;
    const growth = ours / (smallest?.oursMs ?? Number.NaN);
    return [
      { name: `${question}: ms at ${most} calls`, value: ours, limit: 1, tolerance: 0.2 },
      { name: `${question}: growth from a thousandth`, value: growth, limit: 2, tolerance: 0.25 },
    ];
  });
  const whole = of('30 days', ({ calls }) => calls === most)?.cpu.median ?? Number.NaN;
  const name = `30 days: CPU against the covering index at ${most} calls`;
  return [...targets, { name, value: whole, limit: 0.01, tolerance: 0.1 }];
}

function detailTargets(found: readonly FoundDetails[], most: number): readonly Target[] {
  return found
    .filter(({ calls }) => calls === Math.round(most / 10))
    .map(({ calls, period, wallMs }) => ({
      ...{ name: `details of ${period}: ms at ${calls} calls`, value: wallMs },
      ...{ limit: 300, tolerance: 0.2 },
    }));
}

if (import.meta.main) await run(process.argv.slice(2));
