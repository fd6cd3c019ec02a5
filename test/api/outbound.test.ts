import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import type { DialQueue } from '../../src/domain/dialing/outbound-rules.ts';
import { addKey, FOREIGN_KEY, LIVE_KEY, TEST_KEY } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';
import { FROM, openWorld, QUEUE, queuedOf, start, TO } from './outbound-world.ts';

const READ_KEY = `svc_live_${'R'.repeat(32)}`;

describe('POST /api/calls/outbound', () => {
  test('answers 202 with exactly what the specification has, and the call waits', async () => {
    const api = await openWorld();

    const response = await start(api, {
      metadata: { customer: 7, tags: ['a', { b: null }] },
      overrides: { greeting: 'Good morning', maxDurationSeconds: 60 },
    });

    const [call] = await queuedOf(api);
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({
      callId: expect.stringMatching(/^call_[0-9A-Za-z]{24}$/),
      status: 'queued',
      estimatedStartTime: '2026-11-20T12:00:07.000Z',
      createdAt: '2026-11-20T12:00:00.000Z',
    });
    expect(call).toMatchObject({
      accountId: 'acct_main',
      agentId: 'agent_live',
      direction: 'outbound',
      from: FROM,
      to: TO,
      metadata: { customer: 7, tags: ['a', { b: null }] },
      overrides: { greeting: 'Good morning', maxDurationSeconds: 60 },
    });
  });

  test('shows the waiting call, with its metadata', async () => {
    const api = await openWorld();
    const { callId } = (await (await start(api, { metadata: { customer: 7 } })).json()) as {
      callId: string;
    };

    const { status, body } = await api.json('GET', `/api/calls/${callId}`);

    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'queued', startedAt: null, metadata: { customer: 7 } });
  });

  test.each([
    ['an agent that never was', { agentId: 'agent_none' }, 404, 'AGENT_NOT_FOUND'],
    ['an agent of another account', { agentId: 'agent_foreign' }, 404, 'AGENT_NOT_FOUND'],
    ['an agent of the other environment', { agentId: 'agent_test' }, 404, 'AGENT_NOT_FOUND'],
    ['a paused agent', { agentId: 'agent_paused' }, 409, 'CONFLICT'],
    ['a number that is none', { to: '0612345678' }, 422, 'UNPROCESSABLE'],
    ['an impossible number', { to: '+39061' }, 422, 'UNPROCESSABLE'],
    ['an emergency number', { to: '112' }, 422, 'UNPROCESSABLE'],
    ['an emergency number in disguise', { to: '+1911' }, 422, 'UNPROCESSABLE'],
    ['a number abroad', { to: '+4930123456' }, 422, 'UNPROCESSABLE'],
    ['a premium number', { to: '+39899123456' }, 422, 'UNPROCESSABLE'],
    ['a satellite network', { to: '+870773111632' }, 422, 'UNPROCESSABLE'],
    ['a number that rings here', { to: '+390622222222' }, 422, 'UNPROCESSABLE'],
    ['its own number', { to: FROM }, 422, 'UNPROCESSABLE'],
    ['an agent without a number', { agentId: 'agent_mute' }, 422, 'UNPROCESSABLE'],
    ['a calling number without a trunk', { from: '+393331234567' }, 422, 'UNPROCESSABLE'],
    ['a calling number of another account', { from: '+390622222222' }, 422, 'UNPROCESSABLE'],
    ['a calling number that is none', { from: 'me' }, 422, 'UNPROCESSABLE'],
  ])('answers %s with %i', async (_what, body, status, code) => {
    const api = await openWorld();

    const response = await start(api, body);

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code, status } });
    expect(await queuedOf(api)).toEqual([]);
  });

  test('takes a window, and estimates the start no earlier', async () => {
    const api = await openWorld();
    const notBefore = '2026-11-21T10:00:00.000+01:00';

    const response = await start(api, { notBefore, notAfter: '2026-11-21T17:00:00Z' });

    const [call] = await queuedOf(api);
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ estimatedStartTime: '2026-11-21T09:00:00.000Z' });
    expect(call).toMatchObject({
      notBeforeAt: new Date('2026-11-21T09:00:00.000Z'),
      notAfterAt: new Date('2026-11-21T17:00:00.000Z'),
      expiresAt: new Date('2026-11-21T17:00:00.000Z'),
    });
  });

  test.each([
    ['a notBefore that is no instant', { notBefore: '2026-11-21' }, 'notBefore'],
    ['a notAfter in the past', { notAfter: '2026-11-20T11:59:59Z' }, 'notAfter'],
    [
      'a window upside down',
      { notBefore: '2026-11-21T10:00:00Z', notAfter: '2026-11-21T09:00:00Z' },
      'notAfter',
    ],
    ['a call next year', { notBefore: '2027-11-21T10:00:00Z' }, 'notBefore'],
  ])('refuses %s with the name of the field', async (_what, body, path) => {
    const api = await openWorld();

    const response = await start(api, body);

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { details: [{ path }] } });
    expect(await queuedOf(api)).toEqual([]);
  });

  test('estimates the start at the opening of the calling hours, for live calls alone', async () => {
    const api = await openWorld();
    const account = await api.store.accounts.find('acct_main');
    if (account === undefined) throw new Error('The account is not there');
    // It is Friday in Rome.
    const callingHours = { days: ['sat'], from: '09:00', until: '12:00', timeZone: 'UTC' } as const;
    await api.store.accounts.update({ ...account, callingHours });

    const live = await start(api);
    const sandbox = await start(
      api,
      { agentId: 'agent_test', to: '+15550100005' },
      { key: TEST_KEY },
    );

    expect(await live.json()).toMatchObject({ estimatedStartTime: '2026-11-21T08:00:00.000Z' });
    expect(await sandbox.json()).toMatchObject({ estimatedStartTime: '2026-11-20T12:00:07.000Z' });
    expect(await queuedOf(api)).toMatchObject([
      { expiresAt: new Date('2026-11-21T08:10:00.000Z') },
    ]);
  });

  test('answers the same to an agent of another account as to one that never was', async () => {
    const api = await openWorld();
    const textOf = async (agentId: string) =>
      (await (await start(api, { agentId })).text()).replace(/req_[0-9A-Za-z]+/, 'req');

    expect(await textOf('agent_foreign')).toBe(await textOf('agent_none'));
  });

  test('says of an emergency number that it is one', async () => {
    const api = await openWorld();

    const { error } = (await (await start(api, { to: '911' })).json()) as {
      error: { message: string };
    };

    expect(error.message).toBe(
      'Cannot use to "911": emergency and short numbers may not be called',
    );
  });

  test('takes a calling number that an agent without one is lent', async () => {
    const api = await openWorld();

    expect((await start(api, { agentId: 'agent_mute', from: '+390633333333' })).status).toBe(202);
  });

  test('lets an account call where its list says', async () => {
    const api = await openWorld();
    const account = await api.store.accounts.find('acct_main');
    if (account === undefined) throw new Error('The account is not there');
    await api.store.accounts.update({ ...account, allowedCountries: ['DE'] });

    const there = await start(api, { to: '+4930123456' });
    const here = await start(api);

    expect([there.status, here.status]).toEqual([202, 422]);
  });

  test.each([
    [{ to: '+15550100005' }],
    [{ to: '+4930123400' }],
    [{ to: '+15550100005', from: '+15550100001' }],
  ])('lets the sandbox call %o without a trunk', async (body) => {
    const api = await openWorld();

    const response = await start(api, { agentId: 'agent_test', ...body }, { key: TEST_KEY });

    expect(response.status).toBe(202);
    expect(await queuedOf(api)).toEqual([]);
    expect(await queuedOf(api, 'test')).toMatchObject([{ from: '+15550100009', ...body }]);
  });

  test.each([
    ['no key', { key: null }, 401],
    ['a key that may only read', { key: READ_KEY }, 403],
    ['another account’s key', { key: FOREIGN_KEY }, 404],
  ] as const)('answers %s with %i', async (_what, options, status) => {
    const api = await openWorld();
    const facts = { accountId: 'acct_main', environment: 'live', scopes: ['calls:read'] } as const;
    await addKey(api.store, READ_KEY, facts);

    expect((await start(api, {}, options)).status).toBe(status);
  });

  test('answers 403 to a plan that has no outbound calls, with both kinds of key', async () => {
    const api = await openWorld({ plansWithoutOutbound: ['starter'] }, { plan: 'starter' });

    const live = await start(api);
    const sandbox = await start(api, { agentId: 'agent_test' }, { key: TEST_KEY });

    expect([live.status, sandbox.status]).toEqual([403, 403]);
    expect(await live.json()).toMatchObject({ error: { code: 'FORBIDDEN' } });
  });

  test('answers 503 with Retry-After while the queue is full, and again 202 when it is not', async () => {
    const api = await openWorld();
    for (let index = 0; index < 1000; index += 1)
      await api.store.calls.insert(waiting(`call_${index}`), []);

    const full = await start(api);
    const [first] = await queuedOf(api);
    if (first === undefined) throw new Error('Nothing waits');
    await api.store.calls.update({ ...first, status: 'ringing', startedAt: new Date(0) }, []);
    const free = await start(api);

    expect([full.status, full.headers.get('Retry-After')]).toEqual([503, '30']);
    expect(await full.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(free.status).toBe(202);
  });

  test('answers 503 with Retry-After while the server drains, but repeats what it has answered', async () => {
    let isDraining = false;
    const queue: DialQueue = {
      ...QUEUE,
      get isDraining() {
        return isDraining;
      },
    };
    const api = await openWorld({ dialQueues: { live: queue, test: queue } });
    const headers = { 'X-Idempotency-Key': 'once' };
    const before = await start(api, {}, { headers });

    isDraining = true;
    const again = await start(api, {}, { headers });
    const other = await start(api);

    expect([before.status, again.status, other.status]).toEqual([202, 202, 503]);
    expect(await again.text()).toBe(await before.text());
    expect(other.headers.get('Retry-After')).toBe('30');
  });

  test('queues one call for 100 racing requests with one idempotency key', async () => {
    const api = await openWorld();
    const headers = { 'X-Idempotency-Key': 'race' };

    const responses = await Promise.all(
      Array.from({ length: 100 }, () => start(api, {}, { headers, key: LIVE_KEY })),
    );

    const queued = responses.filter(({ status }) => status === 202);
    const ids = await Promise.all(
      queued.map(async (response) => ((await response.json()) as { callId: string }).callId),
    );
    // Those that find the first one running are to come again.
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202, 409]));
    expect(new Set(ids).size).toBe(1);
    expect(await queuedOf(api)).toHaveLength(1);
  });
});

function waiting(id: string): Call {
  const never = { startedAt: null, carrierCallSid: null };
  return buildCall({
    id,
    accountId: 'acct_main',
    direction: 'outbound',
    status: 'queued',
    ...never,
  });
}
