import { expect, test } from 'vitest';
import { addKey, LIVE_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

test('A revoked key stops within a second, though it has just been used', async () => {
  const api = await openTestApi();
  const use = async () => (await api.request('GET', '/api/agents')).status;
  const scope = { accountId: 'acct_main', environment: 'live' } as const;

  const before = await use();
  await api.store.apiKeys.revoke(scope, `key_${LIVE_KEY.slice(-12)}`, api.store.clock.now());
  api.store.clock.advance(1000);
  const after = await use();

  expect([before, after]).toEqual([200, 401]);
});

test.each([
  ['Bearer', `Bearer ${LIVE_KEY}`, 200],
  ['bearer in small letters', `bearer ${LIVE_KEY}`, 200],
  ['Basic', `Basic ${LIVE_KEY}`, 401],
  ['the key alone', LIVE_KEY, 401],
  ['two keys', `Bearer ${LIVE_KEY} ${LIVE_KEY}`, 401],
  ['a key cut short', `Bearer ${LIVE_KEY.slice(0, -1)}`, 401],
  ['a key in other case', `Bearer ${LIVE_KEY.toUpperCase()}`, 401],
  ['a key of 100 kB', `Bearer ${'x'.repeat(100_000)}`, 401],
])('Authentication by %s', async (_case, Authorization, expected) => {
  const api = await openTestApi();

  const headers = { Authorization };
  const { status } = await api.request('GET', '/api/agents', { key: null, headers });

  expect(status).toBe(expected);
});

test('Authentication takes no key from the URL', async () => {
  const api = await openTestApi();

  const { status } = await api.request('GET', `/api/agents?api_key=${LIVE_KEY}`, { key: null });

  expect(status).toBe(401);
});

test('A test key sees and makes only test resources', async () => {
  const api = await openTestApi();

  const { body } = await api.json('POST', '/api/agents', { body: DRAFT, key: TEST_KEY });

  expect((await api.request('GET', `/api/agents/${body.id}`, { key: TEST_KEY })).status).toBe(200);
  expect((await api.request('GET', `/api/agents/${body.id}`)).status).toBe(404);
  expect((await api.json('GET', '/api/agents')).body.total).toBe(0);
});

test.each([
  ['agents:read', 'GET', '/api/agents', 200],
  ['agents:read', 'POST', '/api/agents', 403],
  ['agents:write', 'GET', '/api/agents', 403],
  ['agents:write', 'POST', '/api/agents', 201],
  ['calls:read', 'GET', '/api/calls', 200],
  ['calls:write', 'GET', '/api/calls', 403],
  ['admin', 'GET', '/api/calls', 200],
] as const)('A key with %s at %s %s', async (scope, method, path, expected) => {
  const api = await openTestApi();
  const key = `svc_live_${'7'.repeat(32)}`;
  await addKey(api.store, key, { accountId: 'acct_main', environment: 'live', scopes: [scope] });

  const body = method === 'POST' ? DRAFT : undefined;
  const { status } = await api.request(method, path, { key, body });

  expect(status).toBe(expected);
});

test('Using a key is cached to the minute, without a write at every request', async () => {
  const api = await openTestApi();
  const lastUsed = async () =>
    (await api.store.apiKeys.list({ accountId: 'acct_main', environment: 'live' }))[0]?.lastUsedAt;

  await api.request('GET', '/api/agents');
  const first = await lastUsed();
  api.store.clock.advance(59_999);
  await api.request('GET', '/api/agents');
  const stillFirst = await lastUsed();
  api.store.clock.advance(1000);
  await api.request('GET', '/api/agents');

  expect(stillFirst).toEqual(first);
  expect(await lastUsed()).toEqual(api.store.clock.now());
});
