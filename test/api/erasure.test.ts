/** Erasing a call, and all calls of a telephone number. */
import { describe, expect, test } from 'vitest';
import type { Logger } from '../../src/lib/logger.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { addKey, FOREIGN_KEY, LIVE_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addTalk } from '../support/store/build-talk.ts';
import { foundIn } from '../support/store/found-in.ts';

const ADMIN_KEY = `svc_live_${'7'.repeat(32)}`;
const TEST_ADMIN_KEY = `svc_test_${'6'.repeat(32)}`;
const CALLER = '+390699887766';

type Deps = Parameters<typeof openTestApi>[0];

async function openWorld(deps: Deps = {}) {
  const api = await openTestApi(deps);
  const main = { accountId: 'acct_main', scopes: ['admin'] } as const;
  await addKey(api.store, ADMIN_KEY, { ...main, environment: 'live' });
  await addKey(api.store, TEST_ADMIN_KEY, { ...main, environment: 'test' });
  const talk = (id: string, fields: Partial<Parameters<typeof addTalk>[1]> = {}) =>
    addTalk(api.store, { id, accountId: 'acct_main', from: CALLER, ...fields });
  const erase = (id: string, key = LIVE_KEY) => api.request('DELETE', `/api/calls/${id}`, { key });
  return { api, talk, erase };
}

describe('DELETE /api/calls/{callId}', () => {
  test('erases the call; every later request for it is 404', async () => {
    const { api, talk, erase } = await openWorld();
    await talk('call_1');

    const { status } = await erase('call_1');

    const parts = ['', '/events', '/recording', '/sip', '/quality', '/recording/peaks'];
    const answers = await Promise.all(
      parts.map((part) => api.json('GET', `/api/calls/call_1${part}`)),
    );
    expect(status).toBe(204);
    expect(answers.map(({ body }) => body.error.code)).toEqual(parts.map(() => 'CALL_NOT_FOUND'));
    expect((await erase('call_1')).status).toBe(404);
    expect((await api.json('GET', '/api/calls')).body.total).toBe(0);
    expect((await api.json('GET', '/api/events')).body.data).toEqual([]);
    expect((await api.json('GET', '/api/webhooks/deliveries')).body.data).toEqual([]);
  });

  test('leaves the figures as they are', async () => {
    const { api, talk, erase } = await openWorld();
    await talk('call_1');
    await talk('call_2');
    const figures = () => api.json('GET', '/api/analytics?period=today');
    const before = await figures();

    await erase('call_1');

    expect(before.status).toBe(200);
    expect(await figures()).toEqual(before);
  });

  test('answers when the files are finished with', async () => {
    const steps: string[] = [];
    const finish = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('finished');
    };
    const { talk, erase } = await openWorld({ eraser: { finish } });
    await talk('call_1');

    await erase('call_1');
    steps.push('answered');

    expect(steps).toEqual(['finished', 'answered']);
  });

  test.each([
    ['that waits', { status: 'queued', direction: 'outbound', startedAt: null }, false],
    ['that rings', { status: 'ringing' }, false],
    ['in progress', { status: 'in_progress' }, false],
    ['whose end is being put on record', { status: 'completed', endedAt: new Date(0) }, true],
  ] as const)('answers 409 to a call %s, and changes nothing', async (_case, fields, isHeld) => {
    const liveCalls = {
      ...{ holds: () => isHeld, hangUp: () => false },
      transfer: () => 'not-in-progress' as const,
    };
    const { api, erase } = await openWorld({ liveCalls });
    await api.store.calls.insert(buildCall({ accountId: 'acct_main', ...fields }), []);

    const response = await erase('call_1');

    expect(response.status).toBe(409);
    expect(await response.text()).toContain('it is not over; hang it up first');
    expect(await api.store.calls.findById('call_1')).toBeDefined();
  });

  test.each([
    ['another account', FOREIGN_KEY],
    ['the other environment', TEST_KEY],
  ])('answers 404 to %s', async (_case, key) => {
    const { api, talk, erase } = await openWorld();
    await talk('call_1');

    expect((await erase('call_1', key)).status).toBe(404);
    expect(await api.store.calls.findById('call_1')).toBeDefined();
  });

  test('tells the log who erased what, and neither number nor word', async () => {
    const lines: string[] = [];
    const info: Logger['info'] = (fields, message) =>
      void lines.push(JSON.stringify([fields, message]));
    const { api, talk, erase } = await openWorld({ log: { ...silentLogger, info } });
    await talk('call_1');

    await erase('call_1');

    const askedBy = `key_${LIVE_KEY.slice(-12)}`;
    const audit = lines.find((line) => line.includes('call erased'));
    expect(audit).toContain('"callId":"call_1"');
    expect(audit).toContain(askedBy);
    expect(lines.join()).not.toContain(CALLER.slice(1));
    expect(await api.store.erasures.list(9)).toMatchObject([
      { kind: 'call', askedBy, accountId: 'acct_main', environment: 'live', calls: 1 },
    ]);
  });
});

describe('POST /api/privacy/erase', () => {
  const ask = async (api: Awaited<ReturnType<typeof openWorld>>['api'], options: object = {}) => {
    const body = { phoneNumber: CALLER };
    return await api.json('POST', '/api/privacy/erase', { key: ADMIN_KEY, body, ...options });
  };

  test('answers 202 with what is erased, in both environments of the account alone', async () => {
    const { api, talk } = await openWorld();
    await talk('call_1');
    await talk('call_2', { from: '+390611111111', to: CALLER, direction: 'outbound' });
    await talk('call_test', { environment: 'test' });
    await talk('call_other', { from: '+390611111111' });
    await talk('call_foreign', { accountId: 'acct_foreign' });
    await api.store.calls.insert(
      buildCall({ id: 'call_live', accountId: 'acct_main', from: CALLER }),
      [],
    );

    const { status, body } = await ask(api);
    const erased = await api.store.erasures.eraseNoted(api.store.clock.now());

    expect([status, erased]).toEqual([202, 3]);
    const counts = { calls: 3, recordings: 3, callsInProgress: 1 };
    expect(body).toEqual({ id: expect.stringMatching(/^ers_/), ...counts });
    const left = ['call_live', 'call_other', 'call_foreign'];
    for (const id of left) expect((await api.store.calls.findById(id))?.id).toBe(id);
  });

  test('erases in the sandbox alone with a test key', async () => {
    const { api, talk } = await openWorld();
    await talk('call_1');
    await talk('call_test', { environment: 'test' });

    const { body } = await ask(api, { key: TEST_ADMIN_KEY });
    await api.store.erasures.eraseNoted(api.store.clock.now());

    expect(body).toMatchObject({ calls: 1 });
    expect(await api.store.calls.findById('call_1')).toBeDefined();
    expect(await api.store.calls.findById('call_test')).toBeUndefined();
  });

  test('answers 202 where there is nothing to erase', async () => {
    const { api } = await openWorld();

    const { status, body } = await ask(api);

    expect([status, body]).toMatchObject([202, { calls: 0, recordings: 0, callsInProgress: 0 }]);
  });

  test('keeps the number nowhere, not even the one that was asked for', async () => {
    const { api, talk } = await openWorld();
    await talk('call_1');

    await ask(api, { headers: { 'X-Idempotency-Key': 'k1' } });
    await api.store.erasures.eraseNoted(api.store.clock.now());
    await api.store.leftovers.emptyLog();

    expect(foundIn(api.store.folder, CALLER)).toEqual([]);
    expect(foundIn(api.store.folder, CALLER.slice(1))).toEqual([]);
  });

  test.each([
    ['no number', { phoneNumber: 'Bob' }, 422],
    ['an empty one', { phoneNumber: '' }, 422],
    ['a number as a number', { phoneNumber: 390699887766 }, 400],
    ['nothing', {}, 400],
  ])('refuses %s', async (_case, body, status) => {
    const { api } = await openWorld();

    expect((await ask(api, { body })).status).toBe(status);
    expect(await api.store.erasures.list(9)).toEqual([]);
  });

  test('needs the scope admin', async () => {
    const { api } = await openWorld();

    expect((await ask(api, { key: LIVE_KEY })).status).toBe(403);
  });
});
