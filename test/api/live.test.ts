/** `/api/live/calls`: a client sees the events of its own account, as they are written. */
import { request } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { EventReader } from '../support/api/event-reader.ts';
import {
  FOREIGN_KEY,
  LIVE_KEY,
  openTestApi,
  TEST_KEY,
  type TestApi,
} from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const PATH = '/api/live/calls';
const NOON = new Date('2026-11-20T12:00:00.000Z');
const SAID = { role: 'user', text: 'hello', at: NOON, confidence: 0.9 } as const;

const call = (id: string, fields: Parameters<typeof buildCall>[0] = {}) =>
  buildCall({ id, accountId: 'acct_main', status: 'in_progress', ...fields });

async function watch(api: TestApi, options: { key?: string; path?: string } = {}) {
  const { key = LIVE_KEY, path = PATH } = options;
  const reader = new EventReader(await api.request('GET', path, { key }));
  onTestFinished(() => reader.cancel());
  return reader;
}

test('GET /api/live/calls begins with the calls that go on', async () => {
  const api = await openTestApi();
  await api.store.calls.insert(call('call_1'), []);
  await api.store.calls.insert(call('call_2', { status: 'ringing' }), []);
  await api.store.calls.insert(call('call_3', { status: 'queued', startedAt: null }), []);
  await api.store.calls.insert(call('call_4', { accountId: 'acct_foreign' }), []);

  const response = await api.request('GET', PATH);
  const reader = new EventReader(response);

  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  const { event, data } = await reader.next();
  expect(event).toBe('snapshot');
  expect(data).toMatchObject({ calls: [{ id: 'call_1' }, { id: 'call_2' }], queuedCalls: 1 });
  await reader.cancel();
});

test('GET /api/live/calls tells what happens, in order', async () => {
  const api = await openTestApi();
  const reader = await watch(api);
  await reader.next();

  await api.store.calls.insert(call('call_1', { status: 'ringing' }), []);
  await Promise.resolve();
  await api.store.calls.update(call('call_1', { answeredAt: NOON }), []);
  await Promise.resolve();
  api.store.liveFeed.hearing('call_1', 'hel');
  await api.store.calls.addTranscriptEntry('call_1', SAID);
  await api.store.calls.addTimelineEntry('call_1', { at: NOON, kind: 'barge_in', details: {} });

  expect([await reader.next(), await reader.next()]).toMatchObject([
    { event: 'call', data: { id: 'call_1', status: 'ringing' } },
    { event: 'call', data: { id: 'call_1', status: 'in_progress' } },
  ]);
  expect([await reader.next(), await reader.next(), await reader.next()]).toEqual([
    { event: 'hearing', data: { callId: 'call_1', text: 'hel' } },
    {
      event: 'said',
      data: {
        callId: 'call_1',
        entry: { role: 'user', text: 'hello', timestamp: NOON.toISOString(), confidence: 0.9 },
      },
    },
    {
      event: 'timeline',
      data: {
        callId: 'call_1',
        entry: { timestamp: NOON.toISOString(), kind: 'barge_in', details: {} },
      },
    },
  ]);
});

test('GET /api/live/calls tells nothing of a change that was taken back', async () => {
  const api = await openTestApi();
  const reader = await watch(api);
  await reader.next();
  await api.store.calls.insert(call('call_1', { status: 'completed', endedAt: NOON }), []);
  await reader.next();

  await expect(api.store.calls.update(call('call_1', { status: 'ringing' }), [])).rejects.toThrow();
  api.store.liveFeed.hearing('call_1', 'next');

  expect(await reader.next()).toMatchObject({ event: 'hearing' });
});

test('GET /api/live/calls of one call has its transcript, and no other call', async () => {
  const api = await openTestApi();
  await api.store.calls.insert(call('call_1'), []);
  await api.store.calls.insert(call('call_2'), []);
  await api.store.calls.addTranscriptEntry('call_1', SAID);

  const reader = await watch(api, { path: `${PATH}?callId=call_1` });
  await api.store.calls.addTranscriptEntry('call_2', SAID);
  await api.store.calls.addTranscriptEntry('call_1', { ...SAID, text: 'again' });

  expect((await reader.next()).data).toMatchObject({
    calls: [{ id: 'call_1', transcript: [{ text: 'hello' }] }],
  });
  expect(await reader.next()).toMatchObject({
    event: 'said',
    data: { callId: 'call_1', entry: { text: 'again' } },
  });
});

test.each([
  ['another account', FOREIGN_KEY],
  ['the other environment', TEST_KEY],
])('GET /api/live/calls tells %s nothing', async (_case, key) => {
  const api = await openTestApi();
  const reader = await watch(api, { key });
  await reader.next();

  await api.store.calls.insert(call('call_1'), []);
  await Promise.resolve();
  await api.store.calls.addTranscriptEntry('call_1', SAID);
  await api.store.calls.insert(
    key === FOREIGN_KEY
      ? call('call_own', { accountId: 'acct_foreign' })
      : call('call_own', { environment: 'test' }),
    [],
  );

  expect((await reader.next()).data).toMatchObject({ id: 'call_own' });
});

test('GET /api/live/calls loses and doubles nothing that happens while the snapshot is read', async () => {
  const api = await openTestApi();
  const { calls } = api.store;
  await calls.insert(call('call_1'), []);
  const readTranscript = calls.transcript.bind(calls);
  vi.spyOn(calls, 'transcript').mockImplementationOnce(async (id) => {
    await calls.addTranscriptEntry('call_1', SAID);
    const transcript = await readTranscript(id);
    await calls.addTranscriptEntry('call_1', { ...SAID, text: 'bye' });
    await calls.update(call('call_1', { status: 'completed', endedAt: NOON }), []);
    return transcript;
  });

  const reader = await watch(api, { path: `${PATH}?callId=call_1` });

  expect([await reader.next(), await reader.next(), await reader.next()]).toMatchObject([
    { event: 'snapshot', data: { calls: [{ transcript: [{ text: 'hello' }] }] } },
    { event: 'said', data: { entry: { text: 'bye' } } },
    { event: 'call', data: { id: 'call_1', status: 'completed' } },
  ]);
});

test('GET /api/live/calls of a call that is over begins with its end', async () => {
  const api = await openTestApi();
  await api.store.calls.insert(call('call_1', { status: 'completed', endedAt: NOON }), []);

  const reader = await watch(api, { path: `${PATH}?callId=call_1` });

  expect(await reader.next()).toMatchObject({
    event: 'snapshot',
    data: { calls: [{ id: 'call_1', endedAt: NOON.toISOString() }] },
  });
  expect(await reader.next()).toMatchObject({
    event: 'call',
    data: { id: 'call_1', endedAt: NOON.toISOString() },
  });
});

test('GET /api/live/calls ends when the key is revoked', async () => {
  const api = await openTestApi();
  const reader = await watch(api);
  await reader.next();

  const scope = { accountId: 'acct_main', environment: 'live' } as const;
  const [key] = await api.store.apiKeys.list(scope);
  if (key === undefined) throw new Error('there is no key');
  await api.store.apiKeys.revoke(scope, key.id, NOON);
  api.store.clock.advance(500);

  expect(await reader.isOver()).toBe(true);
  expect(api.store.liveFeed.size).toBe(0);
});

test('GET /api/live/calls says something every 15 s', async () => {
  const api = await openTestApi();
  const reader = await watch(api);
  await reader.next();

  api.store.clock.advance(15_500);

  expect(await reader.nextText()).toBe(': ping');
});

test('GET /api/live/calls lets go of a client that does not read', async () => {
  const api = await openTestApi();
  await api.store.calls.insert(call('call_1'), []);
  const reader = await watch(api);

  for (let said = 0; said < 1200; said += 1) {
    api.store.liveFeed.hearing('call_1', 'x'.repeat(1000));
  }
  await new Promise((resolve) => setImmediate(resolve));

  expect(api.store.liveFeed.size).toBe(0);
  expect(await reader.isOver()).toBe(true);
});

test('GET /api/live/calls keeps no view whose first event is too much for it', async () => {
  const api = await openTestApi();
  await api.store.calls.insert(call('call_1'), []);
  const entry = { ...SAID, text: 'x'.repeat(1_100_000) };
  await api.store.calls.addTranscriptEntry('call_1', entry);

  const response = await api.request('GET', `${PATH}?callId=call_1`);

  expect(response.status).toBe(200);
  expect(api.store.liveFeed.size).toBe(0);
});

test('GET /api/live/calls refuses the forty-first view of one account, and of no other', async () => {
  const api = await openTestApi();
  for (let view = 0; view < 40; view += 1) await watch(api);

  const response = await api.request('GET', PATH);
  await (await watch(api, { key: FOREIGN_KEY })).next();

  expect(response.status).toBe(503);
  expect(response.headers.get('Retry-After')).toBe('10');
});

test('HEAD /api/live/calls opens no view', async () => {
  const api = await openTestApi();

  const response = await api.request('HEAD', PATH);

  expect(response.status).toBe(200);
  expect(api.store.liveFeed.size).toBe(0);
});

test('GET /api/live/calls over a real connection ends with the client, and with the server', async () => {
  const api = await openTestApi();
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    fetch: api.app.fetch,
    newId: () => 'req_0',
    clock: systemClock,
  });
  const port = await server.start();
  const open = () =>
    new Promise<ReturnType<typeof request>>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${LIVE_KEY}` };
      const asked = request({ port, host: '127.0.0.1', path: PATH, headers }, (answer) => {
        answer.once('data', () => resolve(asked));
        answer.on('error', () => undefined);
        answer.on('end', () => asked.emit('over'));
      });
      asked.on('error', reject);
      asked.end();
    });

  const [first, second] = [await open(), await open()];
  expect(api.store.liveFeed.size).toBe(2);
  first.destroy();
  await expect.poll(() => api.store.liveFeed.size).toBe(1);
  const over = new Promise((resolve) => second.once('over', resolve));
  api.store.liveFeed.close();
  await over;
  await server.stop();

  expect(api.store.liveFeed.size).toBe(0);
});
