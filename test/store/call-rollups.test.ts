import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type {
  DayUsage,
  IntentCount,
  UsageQuery,
} from '../../src/domain/analytics/analytics-report.ts';
import type { Call } from '../../src/domain/call/call.ts';
import { canMove, endCall, moveCall } from '../../src/domain/call/call-life.ts';
import { addUpCallsSince } from '../../src/store/sqlite/schema-steps.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addAccount, openTestStore, type TestStore } from '../support/store/test-store.ts';

const NOW = new Date('2026-11-20T12:00:00.000Z');

const DAY_MS = 86_400_000;

const SCANS = {
  call_days: `
    select account_id, environment, agent_id, sort_at / 86400000 as day, direction, status, count(*) as calls,
      sum(answered_at is not null and ended_at is not null) as answered,
      sum(answered_at is null and ended_at is not null) as missed,
      sum(duration_seconds) as billed_seconds,
      round(coalesce(sum(sentiment_score), 0), 6) + 0.0 as sentiment_sum,
      count(sentiment_score) as sentiment_count
    from AGENTS group by 1, 2, 3, 4, 5, 6`,
  intent_days: `
    select account_id, environment, agent_id, sort_at / 86400000 as day, intent_detected as intent, count(*) as calls
    from AGENTS where intent_detected is not null group by 1, 2, 3, 4, 5`,
  call_costs: `
    select account_id, environment, agent_id, sort_at / 900000 as quarter_hour,
      json_extract(cost, '$.currency') as currency, count(*) as calls, sum(json_extract(cost, '$.micros')) as micros
    from AGENTS where cost is not null group by 1, 2, 3, 4, 5`,
} as const;

/** Each call once for its agent and once for all of them. */
const AGENTS = `(select * from (select account_id, environment, agent_id, sort_at, direction, status, answered_at, ended_at,
    duration_seconds, sentiment_score, intent_detected, cost from calls)
  union all select account_id, environment, '', sort_at, direction, status, answered_at, ended_at,
    duration_seconds, sentiment_score, intent_detected, cost from calls)`;

const KEPT = {
  call_days: `select account_id, environment, agent_id, day, direction, status, calls, answered, missed,
      billed_seconds, round(sentiment_sum, 6) + 0.0 as sentiment_sum, sentiment_count
    from call_days order by 1, 2, 3, 4, 5, 6`,
  intent_days: `select account_id, environment, agent_id, day, intent, calls
    from intent_days order by 1, 2, 3, 4, 5`,
  call_costs: `select account_id, environment, agent_id, quarter_hour, currency, calls, micros
    from call_costs order by 1, 2, 3, 4, 5`,
} as const;

/** The sums by quarter hour as they are kept, and as the step of the schema makes them from the calls. */
function quarterHours(store: TestStore): { readonly scanned: object; readonly kept: object } {
  const sqlite = new Sqlite(store.file);
  const all = () => sqlite.prepare('select * from quarter_hours').all();
  try {
    sqlite.exec('begin');
    const kept = all();
    sqlite.exec(`delete from quarter_hours; ${addUpCallsSince('0')}`);
    return { scanned: all(), kept };
  } finally {
    sqlite.exec('rollback');
    sqlite.close();
  }
}

/** What a scan of the calls says, and what was added up. */
function sums(store: TestStore): { readonly scanned: object; readonly kept: object } {
  const sqlite = new Sqlite(store.file, { readonly: true });
  try {
    const all = (sql: string) => sqlite.prepare(sql.replace('AGENTS', AGENTS)).all();
    return {
      scanned: {
        days: all(`${SCANS.call_days} order by 1, 2, 3, 4, 5, 6`),
        intents: all(`${SCANS.intent_days} order by 1, 2, 3, 4, 5`),
        costs: all(`${SCANS.call_costs} order by 1, 2, 3, 4, 5`),
      },
      kept: {
        days: all(KEPT.call_days),
        intents: all(KEPT.intent_days),
        costs: all(KEPT.call_costs),
      },
    };
  } finally {
    sqlite.close();
  }
}

const stepArbitrary = fc.record({
  /** Of the calls that there are; beyond them a new one begins. */
  call: fc.nat({ max: 9 }),
  deed: fc.constantFrom('start', 'answer', 'end', 'break', 'analyse', 'transfer', 'nothing'),
  /** Before or after midnight, so that a call's day may move. */
  hours: fc.integer({ min: -30, max: 30 }),
  score: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
  intent: fc.constantFrom('booking', 'sales', 'support'),
  isOutbound: fc.boolean(),
  isForeign: fc.boolean(),
  environment: fc.constantFrom('live', 'live', 'test'),
});

type Step = typeof stepArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

function firstState(id: string, accountId: string, step: Step): Call {
  const { isOutbound, isForeign, environment, hours } = step;
  const at = new Date(NOW.getTime() + hours * 3_600_000);
  const common = { id, environment, createdAt: at, accountId: isForeign ? 'acct_1' : accountId };
  return isOutbound
    ? buildCall({ ...common, direction: 'outbound', status: 'queued', startedAt: null })
    : buildCall({ ...common, startedAt: at });
}

/** Some calls have a price, in one currency or the other. */
function priceIn(intent: Step['intent']): Call['price'] {
  if (intent === 'support') return null;
  const currency = intent === 'booking' ? 'EUR' : 'CHF';
  return { perMinute: 0.007_001, currency, incrementSeconds: 1, connection: 0 };
}

/** The call after the step, or as it was where the table of moves has no such move. */
function nextState(call: Call, { deed, hours, score, intent }: Step): Call {
  const at = new Date(NOW.getTime() + (hours + 40) * 3_600_000);
  switch (deed) {
    case 'start':
      return canMove(call.status, 'ringing') ? moveCall(call, 'ringing', { startedAt: at }) : call;
    case 'answer':
      return canMove(call.status, 'in_progress')
        ? moveCall(call, 'in_progress', { answeredAt: at, price: priceIn(intent) })
        : call;
    case 'end':
      return canMove(call.status, 'failed')
        ? endCall(call, { endReason: 'user_hangup', endedAt: at })
        : call;
    case 'break':
      return canMove(call.status, 'failed')
        ? endCall(call, { endReason: 'error', endedAt: at })
        : call;
    case 'analyse':
      return {
        ...{ ...call, sentimentScore: score, sentiment: 'neutral', intentDetected: intent },
        success: { met: score > 0.5, reason: 'As it was scored.' },
      };
    case 'transfer':
      return { ...call, agentId: call.agentId === 'agent_1' ? 'agent_2' : 'agent_1' };
    case 'nothing':
      return call;
    default:
      return deed satisfies never;
  }
}

async function liveThrough(
  store: TestStore,
  accountId: string,
  steps: readonly Step[],
): Promise<readonly Call[]> {
  const calls: Call[] = [];
  for (const step of steps) {
    const before = calls[step.call];
    if (before === undefined) {
      const call = firstState(`${accountId}_${calls.length}`, accountId, step);
      await store.calls.insert(call, []);
      calls.push(call);
    } else {
      const after = nextState(before, step);
      await store.calls.update(after, []);
      calls[step.call] = after;
    }
  }
  return calls;
}

function naiveDays(calls: readonly Call[]): readonly DayUsage[] {
  const days = new Map<string, Call[]>();
  for (const call of calls) {
    const date = dateOf(call);
    days.set(date, [...(days.get(date) ?? []), call]);
  }
  const some = (list: readonly Call[], is: (call: Call) => boolean) => list.filter(is).length;
  const total = (list: readonly Call[], pick: (call: Call) => number) =>
    list.reduce((sum, call) => sum + pick(call), 0);
  return [...days].sort().map(([date, list]) => ({
    date,
    calls: list.length,
    inboundCalls: some(list, ({ direction }) => direction === 'inbound'),
    outboundCalls: some(list, ({ direction }) => direction === 'outbound'),
    completedCalls: some(list, ({ status }) => status === 'completed'),
    missedCalls: some(list, ({ endedAt, answeredAt }) => endedAt !== null && answeredAt === null),
    answeredCalls: some(list, ({ endedAt, answeredAt }) => endedAt !== null && answeredAt !== null),
    billedSeconds: total(list, ({ durationSeconds }) => durationSeconds),
    sentimentSum: expect.closeTo(total(list, ({ sentimentScore }) => sentimentScore ?? 0)),
    sentimentCount: some(list, ({ sentimentScore }) => sentimentScore !== null),
  }));
}

function naiveIntents(calls: readonly Call[]): readonly IntentCount[] {
  const counts = new Map<string, number>();
  for (const { intentDetected } of calls) {
    if (intentDetected !== null) {
      counts.set(intentDetected, (counts.get(intentDetected) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([intent, count]) => ({ intent, count }))
    .sort((a, b) => b.count - a.count || (a.intent < b.intent ? -1 : 1));
}

function dateOf(call: Call): string {
  return (call.startedAt ?? call.createdAt).toISOString().slice(0, 10);
}

test('CallRollups agree with a scan, and analytics with a naive sum, whatever calls live through', async () => {
  const store = await openTestStore();
  let runs = 0;

  await fc.assert(
    fc.asyncProperty(
      fc.array(stepArbitrary, { minLength: 20, maxLength: 120 }),
      fc.constantFrom(undefined, 'agent_1', 'agent_2'),
      fc.integer({ min: -2, max: 4 }),
      async (steps, agentId, firstDay) => {
        const accountId = `acct_run${runs++}`;
        await addAccount(store, accountId);
        const scope: Scope = { accountId, environment: 'live' };
        const day = (count: number) =>
          new Date(NOW.getTime() + count * DAY_MS).toISOString().slice(0, 10);
        const range = { firstDay: day(firstDay), lastDay: day(firstDay + 2) };
        const query: UsageQuery = agentId === undefined ? range : { ...range, agentId };

        const calls = await liveThrough(store, accountId, steps);

        const { scanned, kept } = sums(store);
        expect(kept).toEqual(scanned);
        const asked = calls
          .filter((call) => call.accountId === accountId && call.environment === 'live')
          .filter((call) => agentId === undefined || call.agentId === agentId)
          .filter((call) => dateOf(call) >= range.firstDay && dateOf(call) <= range.lastDay);
        expect(await store.analytics.days(scope, query)).toEqual(naiveDays(asked));
        expect(await store.analytics.intents(scope, query)).toEqual(naiveIntents(asked));
      },
    ),
    { numRuns: 100 },
  );
  const { scanned, kept } = quarterHours(store);
  expect(kept).toEqual(scanned);
});

test('CallRollups count the findings of an analysis once', async () => {
  const store = await openTestStore();
  const call = buildCall();
  await store.calls.insert(call, []);
  const found = { sentimentScore: 0.8, sentiment: 'positive', intentDetected: 'booking' } as const;

  await store.calls.update({ ...call, ...found }, []);
  await store.calls.update({ ...call, ...found }, []);

  const { scanned, kept } = sums(store);
  expect(kept).toEqual(scanned);
  expect(await store.analyses.intentsOf('agent_1', 5)).toEqual(['booking']);
});

test('CallRollups take back what a failed write had added', async () => {
  const store = await openTestStore();
  await store.calls.insert(buildCall(), []);

  await expect(store.calls.insert(buildCall({ agentId: 'agent_2' }), [])).rejects.toThrow();

  const { scanned, kept } = sums(store);
  expect(kept).toEqual(scanned);
});
