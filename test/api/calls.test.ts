import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');

async function addCall(api: TestApi, fields: Partial<Call> = {}): Promise<void> {
  await api.store.calls.insert(buildCall({ accountId: 'acct_main', ...fields }), []);
}

const OVER: Partial<Call> = {
  status: 'completed',
  answeredAt: NOON,
  endedAt: new Date('2026-11-20T12:00:42.000Z'),
  endReason: 'user_hangup',
  durationSeconds: 42,
};

const ANALYSED = { sentiment: 'positive', intentDetected: 'opening_hours' } as const;

describe('GET /api/calls', () => {
  test('answers with the envelope and exactly the fields of the list', async () => {
    const api = await openTestApi();
    const cost = { micros: 24_000, currency: 'EUR' };
    const found = { summary: 'Hours.', ...ANALYSED };
    await addCall(api, { ...OVER, recordingFile: 'call_1.wav', cost, ...found });

    const { status, body } = await api.json('GET', '/api/calls');

    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          id: 'call_1',
          agentId: 'agent_1',
          direction: 'inbound',
          status: 'completed',
          from: '+390612345678',
          to: '+15550100001',
          durationSeconds: 42,
          startedAt: '2026-11-20T12:00:00.000Z',
          endedAt: '2026-11-20T12:00:42.000Z',
          answeredAt: '2026-11-20T12:00:00.000Z',
          answeredBy: null,
          endReason: 'user_hangup',
          failureReason: null,
          sipStatus: null,
          cost: { amount: '0.0240', currency: 'EUR' },
          ...ANALYSED,
          tags: [],
          hasTranscript: false,
          hasRecording: true,
        },
      ],
      total: 1,
      limit: 20,
      offset: 0,
      nextCursor: null,
      hasMore: false,
    });
  });

  test('goes on behind a page by its cursor, whatever came meanwhile, and counts what is before', async () => {
    const api = await openTestApi();
    for (const id of ['call_1', 'call_2', 'call_3']) await addCall(api, { ...OVER, id });
    const { body: first } = await api.json('GET', '/api/calls?limit=2');
    await addCall(api, { ...OVER, id: 'call_4' });

    const path = `/api/calls?limit=2&offset=2&cursor=${first.nextCursor}`;
    const { body: second } = await api.json('GET', path);

    expect(first).toMatchObject({ data: [{ id: 'call_3' }, { id: 'call_2' }], hasMore: true });
    expect(second).toMatchObject({
      ...{ data: [{ id: 'call_1' }], total: 4, offset: 3 },
      ...{ nextCursor: null, hasMore: false },
    });
  });

  test.each([
    'x',
    'MTIz',
    Buffer.from('1.agent_1').toString('base64url'),
  ])('answers 400 to the cursor %o', async (cursor) => {
    const api = await openTestApi();

    const { status, body } = await api.json('GET', `/api/calls?cursor=${cursor}`);

    expect(status).toBe(400);
    expect(body.error.details).toEqual([
      { path: 'cursor', message: 'expected the nextCursor of a page of calls' },
    ]);
  });

  test('shows what a live call has not got yet as null', async () => {
    const api = await openTestApi();
    await addCall(api, { status: 'queued', startedAt: null });

    const { body } = await api.json('GET', '/api/calls');

    expect(body.data[0]).toMatchObject({ startedAt: null, endedAt: null, endReason: null });
  });

  test.each([
    ['startDate=2026-11-20', ['noon 20', 'last of 20', 'first of 21']],
    ['endDate=2026-11-20', ['last of 19', 'noon 20', 'last of 20']],
    ['startDate=2026-11-20&endDate=2026-11-20', ['noon 20', 'last of 20']],
    ['direction=outbound', ['noon 20']],
    ['status=failed', ['last of 20']],
    ['agentId=agent_2', ['first of 21']],
    ['agentId=agent_9', []],
    ['direction=outbound&status=failed', []],
    ['limit=1&offset=1', ['last of 20']],
  ])('filters by %s', async (query, expected) => {
    const api = await openTestApi();
    const at = (text: string) => new Date(text);
    await addCall(api, { id: 'last of 19', startedAt: at('2026-11-19T23:59:59.999Z') });
    await addCall(api, { id: 'noon 20', startedAt: NOON, direction: 'outbound' });
    await addCall(api, {
      id: 'last of 20',
      startedAt: at('2026-11-20T23:59:59.999Z'),
      status: 'failed',
    });
    await addCall(api, {
      id: 'first of 21',
      startedAt: at('2026-11-21T00:00:00.000Z'),
      agentId: 'agent_2',
    });

    const { body } = await api.json('GET', `/api/calls?${query}`);

    expect(body.data.map(({ id }) => id)).toEqual([...expected].reverse());
  });

  test.each([
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['status=ended', 'status'],
    ['direction=sideways', 'direction'],
    ['startDate=2026-02-29', 'startDate'],
    ['startDate=2026-11-31', 'startDate'],
    ['startDate=20-11-2026', 'startDate'],
    ['endDate=2026-11-20T00:00:00Z', 'endDate'],
    ['endDate=', 'endDate'],
    ['startDate=2026-11-21&endDate=2026-11-20', 'endDate'],
    ['agentId=', 'agentId'],
    ['sort=asc', 'sort'],
    ['__proto__=1', '__proto__'],
  ])('answers 400 to ?%s, naming the parameter', async (query, path) => {
    const api = await openTestApi();

    const { status, body } = await api.json('GET', `/api/calls?${query}`);

    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.details.map((detail) => detail.path)).toContain(path);
  });

  test('takes a leap day', async () => {
    const api = await openTestApi();

    expect((await api.json('GET', '/api/calls?startDate=2028-02-29')).status).toBe(200);
  });
});

describe('GET /api/calls/{callId}', () => {
  test('answers with exactly the fields of the detail', async () => {
    const api = await openTestApi();
    await addCall(api, {
      ...OVER,
      price: { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0.05 },
      cost: { micros: 62_000, currency: 'EUR' },
      summary: 'Asked for the hours.',
      extracted: { orderNumber: 'A-1' },
      success: { met: true, reason: 'The hours were told.' },
      sentiment: 'positive',
      sentimentScore: 0.8,
      intentDetected: 'information',
      metadata: { order: 7 },
    });
    await api.store.calls.addTranscriptEntry('call_1', { role: 'agent', text: 'Hello', at: NOON });
    await api.store.calls.addTranscriptEntry('call_1', {
      role: 'user',
      text: 'When do you open?',
      at: new Date('2026-11-20T12:00:03.250Z'),
      confidence: 0.93,
    });

    const { status, body } = await api.json('GET', '/api/calls/call_1');

    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'call_1',
      agentId: 'agent_1',
      direction: 'inbound',
      status: 'completed',
      from: '+390612345678',
      to: '+15550100001',
      durationSeconds: 42,
      startedAt: '2026-11-20T12:00:00.000Z',
      endedAt: '2026-11-20T12:00:42.000Z',
      answeredAt: '2026-11-20T12:00:00.000Z',
      answeredBy: null,
      endReason: 'user_hangup',
      failureReason: null,
      sipStatus: null,
      cost: { amount: '0.0620', currency: 'EUR' },
      transcript: [
        { role: 'agent', text: 'Hello', timestamp: '2026-11-20T12:00:00.000Z' },
        {
          role: 'user',
          text: 'When do you open?',
          timestamp: '2026-11-20T12:00:03.250Z',
          confidence: 0.93,
        },
      ],
      tags: [],
      note: null,
      summary: 'Asked for the hours.',
      sentiment: 'positive',
      intentDetected: 'information',
      extracted: { orderNumber: 'A-1' },
      success: { met: true, reason: 'The hours were told.' },
      recordingUrl: null,
      recordingTruncated: false,
      metadata: { order: 7 },
    });
  });

  test('leaves out the transcript while nothing was said', async () => {
    const api = await openTestApi();
    await addCall(api);

    const { body } = await api.json('GET', '/api/calls/call_1');

    expect(body).not.toHaveProperty('transcript');
    expect(body).toMatchObject({ summary: null, sentiment: null, intentDetected: null });
  });

  test('links the recording for a day', async () => {
    const api = await openTestApi();
    await addCall(api, { recordingFile: 'call_1.wav' });

    const url = new URL((await api.json('GET', '/api/calls/call_1')).body.recordingUrl);

    const tomorrow = NOON.getTime() / 1000 + 86_400;
    expect(url.origin + url.pathname).toBe('https://voice.example/api/calls/call_1/recording');
    expect(url.searchParams.get('expires')).toBe(String(tomorrow));
    expect(url.searchParams.get('signature')).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('PATCH /api/calls/{callId}', () => {
  test('tags a call and writes a note, and lists find it by its tag', async () => {
    const api = await openTestApi();
    await addCall(api, OVER);
    await addCall(api, { ...OVER, id: 'call_2' });

    const change = { tags: [' vip ', 'follow-up', 'vip'], note: 'Ring back.\nOn Monday.' };
    const { status, body } = await api.json('PATCH', '/api/calls/call_1', { body: change });

    expect(status).toBe(200);
    expect(body).toMatchObject({ id: 'call_1', tags: ['follow-up', 'vip'], note: change.note });
    await api.json('PATCH', '/api/calls/call_1', { body: { note: null } });
    expect((await api.json('GET', '/api/calls/call_1')).body).toMatchObject({
      tags: ['follow-up', 'vip'],
      note: null,
    });
    const list = await api.json('GET', '/api/calls?tag=vip');
    expect(list.body).toMatchObject({
      total: 1,
      data: [{ id: 'call_1', tags: ['follow-up', 'vip'] }],
    });
  });

  test.for([
    [{}, 'expected tags, note or both'],
    [{ tags: [''] }, 'tags.0'],
    [{ tags: ['a\u0000'] }, 'expected no control characters'],
    [{ tags: Array.from({ length: 21 }, String) }, 'tags'],
    [{ note: 'x'.repeat(10_001) }, 'note'],
    [{ status: 'completed' }, 'status'],
  ] as const)('answers 400 to %j', async ([body, told]) => {
    const api = await openTestApi();
    await addCall(api, OVER);
    const answer = await api.json('PATCH', '/api/calls/call_1', { body });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(told);
  });

  test("answers 404 to a call of the other environment, and to one that isn't there", async () => {
    const api = await openTestApi();
    await addCall(api, { ...OVER, environment: 'test' });
    for (const id of ['call_1', 'call_9']) {
      const answer = await api.json('PATCH', `/api/calls/${id}`, { body: { tags: ['a'] } });
      expect(answer.status).toBe(404);
    }
  });
});

describe('GET /api/calls?q=', () => {
  test('finds by number, and refuses a search without letters and digits', async () => {
    const api = await openTestApi();
    await addCall(api, OVER);
    expect((await api.json('GET', '/api/calls?q=0612345')).body).toMatchObject({ total: 1 });
    expect((await api.json('GET', '/api/calls?q=0612346')).body).toMatchObject({ total: 0 });
    const refused = await api.json('GET', '/api/calls?q=%21%3F');
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('expected words, a phone number or a call id');
  });
});

describe('GET /api/calls/{callId}/events', () => {
  test('answers with the timeline, oldest first, in pages', async () => {
    const api = await openTestApi();
    await addCall(api);
    for (let turn = 1; turn <= 3; turn++) {
      await api.store.calls.addTimelineEntry('call_1', {
        at: NOON,
        kind: 'turn',
        details: { turn },
      });
    }

    const { body } = await api.json('GET', '/api/calls/call_1/events?limit=2&offset=1');

    const timestamp = '2026-11-20T12:00:00.000Z';
    expect(body).toEqual({
      data: [
        { timestamp, kind: 'turn', details: { turn: 2 } },
        { timestamp, kind: 'turn', details: { turn: 3 } },
      ],
      total: 3,
      limit: 2,
      offset: 1,
    });
  });

  test('answers 400 to a limit over 1,000', async () => {
    const api = await openTestApi();
    await addCall(api);

    expect((await api.json('GET', '/api/calls/call_1/events?limit=1001')).status).toBe(400);
  });
});
