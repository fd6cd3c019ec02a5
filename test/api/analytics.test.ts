import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import { addKey, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

interface Analytics {
  readonly period: { readonly start: string; readonly end: string };
  readonly summary: { readonly totalCalls: number; readonly averageDurationSeconds: number };
  readonly minutesUsed: number;
  readonly minutesIncluded: number;
  readonly minutesRemaining: number;
  readonly dailyBreakdown: readonly { readonly date: string; readonly calls: number }[];
  readonly topIntents: readonly { readonly intent: string; readonly percentage: number }[];
}

/** `STORE_NOW_MS`, which the tests' clock shows, is noon of this day. */
const TODAY = '2026-11-20';

let made = 0;

async function addCall(api: TestApi, fields: Partial<Call> = {}): Promise<void> {
  made += 1;
  await api.store.calls.insert(
    buildCall({ id: `call_${made}`, accountId: 'acct_main', ...fields }),
    [],
  );
}

/** A call that was answered and lasted so many seconds. */
function over(day: string, durationSeconds: number, fields: Partial<Call> = {}): Partial<Call> {
  const startedAt = new Date(`${day}T09:00:00.000Z`);
  const endedAt = new Date(startedAt.getTime() + durationSeconds * 1000);
  const common = { startedAt, answeredAt: startedAt, endedAt, durationSeconds };
  return { ...common, status: 'completed', endReason: 'user_hangup', ...fields };
}

async function getAnalytics(api: TestApi, query = '', key?: string): Promise<Analytics> {
  const options = key === undefined ? {} : { key };
  const response = await api.request('GET', `/api/analytics${query}`, options);
  expect(response.status).toBe(200);
  return (await response.json()) as Analytics;
}

describe('GET /api/analytics', () => {
  test('adds up the calls of the period, and shows every field', async () => {
    const api = await openTestApi();
    await addCall(api, over(TODAY, 61, { sentimentScore: 0.9, intentDetected: 'booking' }));
    await addCall(api, over(TODAY, 30, { sentimentScore: 0.2, intentDetected: 'booking' }));
    await addCall(api, over('2026-11-19', 100, { direction: 'outbound', intentDetected: 'sales' }));
    await addCall(api, {
      status: 'failed',
      direction: 'outbound',
      endedAt: new Date(`${TODAY}T12:00:30.000Z`),
      endReason: 'busy',
    });
    await addCall(api, { status: 'queued', startedAt: null, direction: 'outbound' });

    const { body } = await api.json(
      'GET',
      `/api/analytics?period=custom&startDate=2026-11-18&endDate=${TODAY}`,
    );

    expect(body).toEqual({
      period: { start: '2026-11-18T00:00:00.000Z', end: '2026-11-20T23:59:59.999Z' },
      summary: {
        totalCalls: 5,
        totalMinutes: 3.2,
        inboundCalls: 2,
        outboundCalls: 3,
        completedCalls: 3,
        missedCalls: 1,
        averageDurationSeconds: 63.7,
        averageSentimentScore: 0.55,
      },
      minutesUsed: 3.2,
      minutesIncluded: 1000,
      minutesRemaining: 996.8,
      dailyBreakdown: [
        { date: '2026-11-18', calls: 0, minutes: 0, averageDuration: 0 },
        { date: '2026-11-19', calls: 1, minutes: 1.7, averageDuration: 100 },
        { date: '2026-11-20', calls: 4, minutes: 1.5, averageDuration: 45.5 },
      ],
      topIntents: [
        { intent: 'booking', count: 2, percentage: 66.7 },
        { intent: 'sales', count: 1, percentage: 33.3 },
      ],
    });
  });

  test('answers with zeros and 30 days to an account without calls', async () => {
    const api = await openTestApi();

    const { period, summary, dailyBreakdown, topIntents } = await getAnalytics(api);

    expect(period).toEqual({ start: '2026-10-22T00:00:00.000Z', end: '2026-11-20T23:59:59.999Z' });
    expect(new Set(Object.values(summary))).toEqual(new Set([0]));
    expect(dailyBreakdown.map(({ date }) => date).slice(-2)).toEqual(['2026-11-19', TODAY]);
    expect([dailyBreakdown.length, topIntents.length]).toEqual([30, 0]);
  });

  test.each([
    ['', 3],
    ['?period=last_30_days', 3],
    ['?period=today', 1],
    ['?period=yesterday', 1],
    ['?period=last_7_days', 2],
    ['?period=this_month', 2],
    ['?period=last_month', 2],
    ['?period=last_90_days', 4],
    ['?period=custom&startDate=2026-10-01&endDate=2026-10-01', 1],
    ['?period=custom&startDate=2026-10-02&endDate=2026-10-30', 0],
    ['?agentId=agent_2', 1],
    ['?agentId=agent_2&period=today', 0],
    ['?agentId=agent_9', 0],
  ])('counts the calls of %s', async (query, expected) => {
    const api = await openTestApi();
    await addCall(api, over(TODAY, 60));
    await addCall(api, over('2026-11-19', 60, { agentId: 'agent_2' }));
    await addCall(api, over('2026-10-31', 60));
    await addCall(api, over('2026-10-01', 60));

    expect((await getAnalytics(api, query)).summary.totalCalls).toBe(expected);
  });

  test('takes only the ten most frequent intents, with their share of all', async () => {
    const api = await openTestApi();
    for (let intent = 0; intent < 12; intent += 1) {
      const intentDetected = `intent_${String.fromCharCode(108 - intent)}`;
      await addCall(api, over(TODAY, 1, { intentDetected }));
      if (intent === 5) await addCall(api, over(TODAY, 1, { intentDetected }));
    }
    await addCall(api, over(TODAY, 1));

    const { topIntents } = await getAnalytics(api);

    expect(topIntents.map(({ intent }) => intent.at(-1)).join('')).toBe('gabcdefhij');
    expect(topIntents.map(({ percentage }) => percentage).slice(0, 2)).toEqual([15.4, 7.7]);
  });

  test('counts the used minutes of the calendar month, of all agents, whatever is asked', async () => {
    const api = await openTestApi();
    await addCall(api, over('2026-11-01', 600));
    await addCall(api, over('2026-11-05', 90, { agentId: 'agent_2' }));
    await addCall(api, over('2026-10-31', 60_000));

    const analytics = await getAnalytics(api, '?period=today&agentId=agent_1');

    expect(analytics).toMatchObject({ minutesUsed: 11.5, minutesRemaining: 988.5 });
  });

  test('never leaves less than no minutes', async () => {
    const api = await openTestApi();
    await addCall(api, over('2026-11-02', 1000 * 60 + 1));

    const analytics = await getAnalytics(api);

    expect(analytics).toMatchObject({ minutesUsed: 1000, minutesRemaining: 0 });
  });

  test('sees neither the other environment nor another account', async () => {
    const api = await openTestApi();
    await addCall(api, over(TODAY, 60, { environment: 'test', intentDetected: 'sales' }));
    await addCall(api, over(TODAY, 60, { accountId: 'acct_foreign', intentDetected: 'sales' }));

    const live = await getAnalytics(api);
    const foreignAgent = await getAnalytics(api, '?agentId=agent_1');
    const sandbox = await getAnalytics(api, '', TEST_KEY);

    const seen = [live, foreignAgent, sandbox].map(({ summary }) => summary.totalCalls);
    expect(seen).toEqual([0, 0, 1]);
    expect([live.topIntents.length, live.minutesUsed]).toEqual([0, 0]);
    expect([sandbox.topIntents.length, sandbox.minutesUsed]).toEqual([1, 1]);
  });

  test.each([
    ['period=last_year', 'period'],
    ['period=', 'period'],
    ['period=custom', 'startDate'],
    ['period=custom', 'endDate'],
    ['period=custom&startDate=2026-11-20', 'endDate'],
    ['period=custom&endDate=2026-11-20', 'startDate'],
    ['period=today&startDate=2026-11-20', 'startDate'],
    ['startDate=2026-11-20&endDate=2026-11-20', 'endDate'],
    ['period=custom&startDate=2026-11-20&endDate=2026-11-19', 'endDate'],
    ['period=custom&startDate=2026-02-29&endDate=2026-03-01', 'startDate'],
    ['period=custom&startDate=2026-1-1&endDate=2026-03-01', 'startDate'],
    ['period=custom&startDate=2025-11-19&endDate=2026-11-20', 'endDate'],
    ['agentId=', 'agentId'],
    [`agentId=${'a'.repeat(101)}`, 'agentId'],
    ['groupBy=hour', 'groupBy'],
  ])('answers 400 to ?%s, naming %s', async (query, path) => {
    const api = await openTestApi();

    const { status, body } = await api.json('GET', `/api/analytics?${query}`);

    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.details.map((detail) => detail.path)).toContain(path);
  });

  test('takes 366 days, the whole of a leap year', async () => {
    const api = await openTestApi();

    const query = '?period=custom&startDate=2028-01-01&endDate=2028-12-31';

    expect((await getAnalytics(api, query)).dailyBreakdown).toHaveLength(366);
  });

  test('answers 403 to a key without analytics:read', async () => {
    const api = await openTestApi();
    const key = `svc_live_${'9'.repeat(32)}`;
    const scopes = ['calls:read', 'agents:read'] as const;
    await addKey(api.store, key, { accountId: 'acct_main', environment: 'live', scopes });

    expect((await api.json('GET', '/api/analytics', { key })).status).toBe(403);
  });
});
