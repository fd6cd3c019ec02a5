import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import { openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

/** The tests' clock shows noon (UTC) of 2026-11-20. */
const DAYS = 'period=custom&startDate=2026-11-19&endDate=2026-11-20';

interface Details {
  readonly summary: { readonly totalCalls: number; readonly costs: readonly object[] };
  readonly previous: { readonly totalCalls: number; readonly costs: readonly object[] };
  readonly days: readonly {
    readonly date: string;
    readonly totalCalls: number;
    readonly engineTimes: object;
  }[];
  readonly hours: readonly number[];
  readonly agents: readonly { readonly agentId: string }[];
}

let made = 0;

/** A call of the test's account that begins at an instant and is over, completed after a minute unless said otherwise. */
async function addCall(api: TestApi, startedAt: string, fields: Partial<Call> = {}): Promise<Call> {
  made += 1;
  const at = new Date(startedAt);
  const call = buildCall({
    id: `call_${made}`,
    accountId: 'acct_main',
    createdAt: at,
    startedAt: at,
    answeredAt: at,
    endedAt: new Date(at.getTime() + 60_000),
    status: 'completed',
    endReason: 'user_hangup',
    durationSeconds: 60,
    ...fields,
  });
  await api.store.calls.insert(call, []);
  return call;
}

/** A call that is answered, has a turn for each time, and ends. */
async function addTalk(
  api: TestApi,
  startedAt: string,
  answersMs: readonly number[],
  marks: Readonly<Record<string, number>> = {},
) {
  const over = {
    endedAt: null,
    endReason: null,
    status: 'in_progress',
    durationSeconds: 0,
  } as const;
  const call = await addCall(api, startedAt, over);
  for (const firstPacketMs of answersMs) {
    const entry = { at: new Date(startedAt), kind: 'turn', details: { ...marks, firstPacketMs } };
    await api.store.calls.addTimelineEntry(call.id, entry);
  }
  const endedAt = new Date(Date.parse(startedAt) + 30_000);
  const end = {
    endedAt,
    endReason: 'user_hangup',
    status: 'completed',
    durationSeconds: 30,
  } as const;
  await api.store.calls.update({ ...call, ...end }, []);
}

async function addAgent(api: TestApi): Promise<string> {
  const body = { name: 'Desk', greeting: 'Hello.', systemPrompt: 'Be brief.', voice: VOICE };
  const made = await api.json('POST', '/api/agents', { body });
  expect(made.status).toBe(201);
  return made.body.id;
}

const VOICE = 'en-US-JennyNeural';

/** Of turns that have no mark of an engine. */
const NO_ENGINES = { recognition: null, model: null, voice: null };

const MISSED = { status: 'failed', answeredAt: null, durationSeconds: 0 } as const;

async function details(api: TestApi, query: string, key?: string): Promise<Details> {
  const options = key === undefined ? {} : { key };
  const response = await api.request('GET', `/api/analytics/details?${query}`, options);
  expect(response.status).toBe(200);
  return (await response.json()) as Details;
}

describe('GET /api/analytics/details', () => {
  test('counts by outcome, day, reason and hour, and shows every field', async () => {
    const api = await openTestApi();
    await addCall(api, '2026-11-19T09:10:00.000Z', {
      sentiment: 'positive',
      cost: { micros: 24_000, currency: 'EUR' },
    });
    await addTalk(api, '2026-11-20T09:50:00.000Z', [400, 800, 2000]);
    await addCall(api, '2026-11-20T10:00:00.000Z', {
      ...MISSED,
      endReason: 'no_answer',
      direction: 'outbound',
    });
    await addCall(api, '2026-11-20T11:00:00.000Z', { status: 'failed', endReason: 'error' });

    const body = await details(api, DAYS);

    const answerTime = { turns: 3, p50Ms: 800, p95Ms: 2010 };
    const success = { successMet: 0, successJudged: 0, neutralCalls: 0, negativeCalls: 0 };
    expect(body).toEqual({
      period: {
        start: '2026-11-19T00:00:00.000Z',
        end: '2026-11-20T23:59:59.999Z',
        timeZone: 'UTC',
      },
      summary: {
        totalCalls: 4,
        completedCalls: 2,
        missedCalls: 1,
        failedCalls: 1,
        inboundCalls: 3,
        outboundCalls: 1,
        totalMinutes: 2.5,
        averageDurationSeconds: 50,
        answerTime,
        positiveCalls: 1,
        costs: [{ amount: '0.0240', currency: 'EUR' }],
        ...success,
      },
      previous: {
        totalCalls: 0,
        completedCalls: 0,
        missedCalls: 0,
        failedCalls: 0,
        inboundCalls: 0,
        outboundCalls: 0,
        totalMinutes: 0,
        averageDurationSeconds: null,
        answerTime: null,
        positiveCalls: 0,
        costs: [],
        ...success,
      },
      days: [
        {
          date: '2026-11-19',
          totalCalls: 1,
          completedCalls: 1,
          missedCalls: 0,
          failedCalls: 0,
          answerTime: null,
          engineTimes: NO_ENGINES,
        },
        {
          date: '2026-11-20',
          totalCalls: 3,
          completedCalls: 1,
          missedCalls: 1,
          failedCalls: 1,
          answerTime,
          engineTimes: NO_ENGINES,
        },
      ],
      hours: [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      endReasons: [
        { reason: 'user_hangup', count: 2 },
        { reason: 'error', count: 1 },
        { reason: 'no_answer', count: 1 },
      ],
      agents: [],
    });
  });

  test('adds costs up by currency, for an agent and for all, and for the period before', async () => {
    const api = await openTestApi();
    const agentId = await addAgent(api);
    const euros = (micros: number) => ({ cost: { micros, currency: 'EUR' } });
    await addCall(api, '2026-11-17T09:00:00.000Z', euros(1));
    await addCall(api, '2026-11-19T09:00:00.000Z', { agentId, ...euros(12_345_678) });
    await addCall(api, '2026-11-20T09:00:00.000Z', euros(33));
    await addCall(api, '2026-11-20T09:00:00.000Z', { cost: { micros: 0, currency: 'CHF' } });
    await addCall(api, '2026-11-20T09:00:00.000Z');

    const { summary, previous } = await details(api, DAYS);
    const ofAgent = await details(api, `${DAYS}&agentId=${agentId}`);

    expect(summary.costs).toEqual([
      { amount: '0.0000', currency: 'CHF' },
      { amount: '12.345711', currency: 'EUR' },
    ]);
    expect(previous.costs).toEqual([{ amount: '0.000001', currency: 'EUR' }]);
    expect(ofAgent.summary.costs).toEqual([{ amount: '12.345678', currency: 'EUR' }]);
  });

  test('adds the times of each engine up by day, over calls of the same quarter hour', async () => {
    const api = await openTestApi();
    const marks = { endOfTurnMs: 300, firstClauseMs: 600, firstAudioMs: 700 };
    await addTalk(api, '2026-11-20T09:50:00.000Z', [720, 720], { ...marks, textFinalMs: 400 });
    await addTalk(api, '2026-11-20T09:52:00.000Z', [720], { ...marks, textFinalMs: 500 });

    const body = await details(api, DAYS);

    expect(body.days.map(({ engineTimes }) => engineTimes)).toEqual([
      NO_ENGINES,
      {
        recognition: { turns: 3, p50Ms: 100, p95Ms: 200 },
        model: { turns: 3, p50Ms: 200, p95Ms: 200 },
        voice: { turns: 3, p50Ms: 100, p95Ms: 100 },
      },
    ]);
  });

  test('keeps times to answer of before engines were counted, and counts engines from then on', async () => {
    const api = await openTestApi();
    const marks = { endOfTurnMs: 300, textFinalMs: 400 };
    await addTalk(api, '2026-11-20T09:50:00.000Z', [720], marks);
    const sqlite = new Sqlite(api.store.file);
    sqlite.exec('update answer_times set recognition = null, model = null, voice = null');
    sqlite.close();
    await addTalk(api, '2026-11-20T09:52:00.000Z', [720], marks);

    const body = await details(api, DAYS);

    expect(body.days[1]).toMatchObject({
      answerTime: { turns: 2 },
      engineTimes: { recognition: { turns: 1 } },
    });
  });

  test.each([
    ['Pacific/Auckland', '2026-11-21', 1],
    ['UTC', '2026-11-20', 12],
    ['Asia/Kathmandu', '2026-11-20', 17],
    ['America/Los_Angeles', '2026-11-20', 4],
  ])('has days and hours of %s', async (timeZone, date, hour) => {
    const api = await openTestApi();
    await addCall(api, '2026-11-20T12:01:00.000Z');

    const body = await details(api, `period=last_7_days&timeZone=${timeZone}`);

    expect(body.days.filter(({ totalCalls }) => totalCalls > 0)).toMatchObject([{ date }]);
    expect(body.hours.indexOf(1)).toBe(hour);
    expect(body.days).toHaveLength(7);
  });

  test('keeps days apart on both sides of a change of the clocks', async () => {
    const api = await openTestApi();
    await addCall(api, '2026-10-24T21:59:00.000Z');
    await addCall(api, '2026-10-24T22:01:00.000Z');
    await addCall(api, '2026-10-25T22:59:00.000Z');
    await addCall(api, '2026-10-25T23:01:00.000Z');

    const body = await details(
      api,
      'period=custom&startDate=2026-10-24&endDate=2026-10-26&timeZone=Europe/Rome',
    );

    expect(body.days.map(({ totalCalls }) => totalCalls)).toEqual([1, 2, 1]);
  });

  test('compares with as much of the period before as has passed', async () => {
    const api = await openTestApi();
    await addCall(api, '2026-11-20T08:00:00.000Z');
    await addCall(api, '2026-11-19T08:00:00.000Z');
    await addCall(api, '2026-11-19T11:30:00.000Z');
    await addCall(api, '2026-11-19T12:30:00.000Z');

    const { summary, previous } = await details(api, 'period=today');

    expect([summary.totalCalls, previous.totalCalls]).toEqual([1, 2]);
  });

  test('says how many calls of each agent met its criteria', async () => {
    const api = await openTestApi();
    const one = await addAgent(api);
    const other = await addAgent(api);
    const judged = (met: boolean) => ({ success: { met, reason: 'As asked.' } });
    await addCall(api, '2026-11-20T08:00:00.000Z', { agentId: one, ...judged(true) });
    await addCall(api, '2026-11-20T08:01:00.000Z', { agentId: one, ...judged(false) });
    await addCall(api, '2026-11-20T08:02:00.000Z', { agentId: one });
    await addCall(api, '2026-11-20T08:03:00.000Z', { agentId: other, ...MISSED });

    const all = await details(api, 'period=today');
    const ofOne = await details(api, `period=today&agentId=${one}`);

    const facts = {
      completedCalls: 3,
      missedCalls: 0,
      failedCalls: 0,
      successMet: 1,
      successJudged: 2,
    };
    const expected = { agentId: one, totalCalls: 3, ...facts };
    expect(all.agents).toMatchObject([expected, { agentId: other, totalCalls: 1, missedCalls: 1 }]);
    expect(ofOne.agents).toEqual([expected]);
    expect(ofOne.summary).toMatchObject({ totalCalls: 3, successMet: 1, successJudged: 2 });
  });

  test('sees neither the other environment nor another account', async () => {
    const api = await openTestApi();
    await addCall(api, '2026-11-20T08:00:00.000Z', { environment: 'test' });
    await addCall(api, '2026-11-20T08:00:00.000Z', { accountId: 'acct_foreign' });

    const totals = [
      await details(api, 'period=today'),
      await details(api, 'period=today', TEST_KEY),
    ];

    expect(totals.map(({ summary }) => summary.totalCalls)).toEqual([0, 1]);
  });

  test.each([
    ['timeZone=Mars/Olympus', 'timeZone'],
    ['timeZone=%2B01:00', 'timeZone'],
    ['timeZone=', 'timeZone'],
    ['period=custom&startDate=2026-11-20', 'endDate'],
    ['period=today&endDate=2026-11-20', 'endDate'],
    ['hour=3', 'hour'],
  ])('refuses %s', async (query, path) => {
    const api = await openTestApi();

    const { status, body } = await api.json('GET', `/api/analytics/details?${query}`);

    expect(status).toBe(400);
    expect(body.error.details).toMatchObject([{ path }]);
  });
});
