import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { API_KEYS_MAX, API_SCOPES } from '../../src/domain/account/api-key.ts';
import { addKey, LIVE_KEY, openTestApi, type TestApi } from '../support/api/test-api.ts';

const ADMIN_KEY = `svc_live_${'5'.repeat(32)}`;
const TEST_ADMIN_KEY = `svc_test_${'6'.repeat(32)}`;
const FOREIGN_ADMIN_KEY = `svc_live_${'7'.repeat(32)}`;

interface KeyBody {
  readonly id: string;
  readonly key: string | null;
  readonly environment: string;
  readonly revokedAt: string | null;
}

async function openWithAdmins(): Promise<TestApi> {
  const api = await openTestApi();
  const scopes = ['admin'] as const;
  await addKey(api.store, ADMIN_KEY, { accountId: 'acct_main', environment: 'live', scopes });
  await addKey(api.store, TEST_ADMIN_KEY, { accountId: 'acct_main', environment: 'test', scopes });
  await addKey(api.store, FOREIGN_ADMIN_KEY, {
    accountId: 'acct_foreign',
    environment: 'live',
    scopes,
  });
  return api;
}

async function createKey(
  api: TestApi,
  body: object = { name: 'Site' },
  options: { readonly key?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly status: number; readonly body: KeyBody }> {
  const response = await api.request('POST', '/api/keys', { key: ADMIN_KEY, ...options, body });
  return { status: response.status, body: (await response.json()) as KeyBody };
}

async function listKeys(api: TestApi, query = '', key = ADMIN_KEY) {
  const response = await api.request('GET', `/api/keys${query}`, { key });
  const body = await response.json();
  return { status: response.status, ...(body as { data: KeyBody[]; total: number }) };
}

describe('POST /api/keys', () => {
  test('shows the key, which works at once with everything but admin', async () => {
    const api = await openWithAdmins();

    const { status, body } = await createKey(api);

    const key = body.key ?? '';
    expect(status).toBe(201);
    expect(key).toMatch(/^svc_live_[0-9A-Za-z]{32}$/);
    expect(body).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Za-z]{24}$/),
      name: 'Site',
      environment: 'live',
      prefix: 'svc_live_',
      lastFour: key.slice(-4),
      scopes: API_SCOPES.filter((scope) => scope !== 'admin'),
      createdAt: '2026-11-20T12:00:00.000Z',
      lastUsedAt: null,
      revokedAt: null,
      key,
    });
    expect((await api.request('GET', '/api/agents', { key })).status).toBe(200);
    expect((await api.request('GET', '/api/keys', { key })).status).toBe(403);
  });

  test('gives the key the scopes and the environment asked for', async () => {
    const api = await openWithAdmins();

    const body = { name: 'Robot', environment: 'test', scopes: ['calls:read'] };
    const key = (await createKey(api, body)).body.key ?? '';

    expect(key).toMatch(/^svc_test_/);
    expect((await api.request('GET', '/api/calls', { key })).status).toBe(200);
    expect((await api.request('GET', '/api/agents', { key })).status).toBe(403);
  });

  test('never makes a live key with a test key', async () => {
    const api = await openWithAdmins();

    const options = { key: TEST_ADMIN_KEY };
    const live = await createKey(api, { name: 'Site', environment: 'live' }, options);
    const own = await createKey(api, { name: 'Site' }, options);

    expect([live.status, own.status, own.body.environment]).toEqual([403, 201, 'test']);
  });

  test.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 121 characters', { name: 'n'.repeat(121) }, 'name'],
    ['no scope', { name: 'n', scopes: [] }, 'scopes'],
    ['an unknown scope', { name: 'n', scopes: ['calls:read', 'everything'] }, 'scopes.1'],
    ['a scope twice', { name: 'n', scopes: ['admin', 'admin'] }, 'scopes'],
    ['an unknown environment', { name: 'n', environment: 'production' }, 'environment'],
    ['a key of its own', { name: 'n', key: LIVE_KEY }, 'key'],
  ])('answers 400 to %s, naming the field', async (_case, body, path) => {
    const api = await openWithAdmins();

    const answer = await api.json('POST', '/api/keys', { key: ADMIN_KEY, body });

    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map((detail) => detail.path)).toContain(path);
  });

  test('makes one key for a repeated request, and does not show it again', async () => {
    const api = await openWithAdmins();
    const headers = { 'X-Idempotency-Key': 'k1' };

    const first = await createKey(api, { name: 'Site' }, { headers });
    const second = await createKey(api, { name: 'Site' }, { headers });

    expect(second).toEqual({ status: 201, body: { ...first.body, key: null } });
  });

  test('leaves the key in no file', async () => {
    const api = await openWithAdmins();
    const { body } = await createKey(api, undefined, { headers: { 'X-Idempotency-Key': 'k1' } });
    const key = body.key ?? '';
    await api.request('GET', '/api/agents', { key });

    const files = readdirSync(api.store.folder);
    const text = files.map((file) => readFileSync(join(api.store.folder, file), 'latin1')).join();

    expect(files.length).toBeGreaterThan(1);
    expect(text).toContain(body.id);
    expect(text).not.toContain(key.slice(-20));
  });

  test('answers 409 while the environment has a hundred that are not revoked', async () => {
    const api = await openWithAdmins();
    const { total } = await listKeys(api, '?environment=live');
    let last = '';
    for (let made = total; made < API_KEYS_MAX; made++) last = (await createKey(api)).body.id;

    const over = await createKey(api);
    const sandbox = await createKey(api, { name: 'Site', environment: 'test' });
    await api.request('DELETE', `/api/keys/${last}`, { key: ADMIN_KEY });
    const afterwards = await createKey(api);

    expect([over.status, sandbox.status, afterwards.status]).toEqual([409, 201, 201]);
  });
});

describe('GET /api/keys', () => {
  test('shows keys of both environments to a live key, newest first, and no secret', async () => {
    const api = await openWithAdmins();
    api.store.clock.advance(1000);
    const { body } = await createKey(api, { name: 'Site', environment: 'test' });

    const { data, total } = await listKeys(api, '?limit=2');

    const { key: _key, ...shown } = body;
    expect([data.length, total]).toEqual([2, 5]);
    expect(data[0]).toEqual(shown);
  });

  test.each([
    ['', ADMIN_KEY, ['live', 'live', 'test', 'test']],
    ['?environment=live', ADMIN_KEY, ['live', 'live']],
    ['?environment=test', ADMIN_KEY, ['test', 'test']],
    ['', TEST_ADMIN_KEY, ['test', 'test']],
    ['', FOREIGN_ADMIN_KEY, ['live', 'live']],
  ])('GET /api/keys%s with %s', async (query, key, environments) => {
    const api = await openWithAdmins();

    const { data, total } = await listKeys(api, query, key);

    expect(data.map(({ environment }) => environment).sort()).toEqual(environments);
    expect(total).toBe(environments.length);
  });

  test('answers 403 to a test key that asks for live ones', async () => {
    const api = await openWithAdmins();

    expect((await listKeys(api, '?environment=live', TEST_ADMIN_KEY)).status).toBe(403);
  });
});

describe('DELETE /api/keys/{keyId}', () => {
  test('revokes the key: it stops at once, though it has just been used, and stays in the list', async () => {
    const api = await openWithAdmins();
    const { body } = await createKey(api);
    const use = async () => (await api.request('GET', '/api/agents', { key: body.key })).status;
    const before = await use();

    const response = await api.request('DELETE', `/api/keys/${body.id}`, { key: ADMIN_KEY });
    const after = await use();

    expect([before, response.status, await response.text(), after]).toEqual([200, 204, '', 401]);
    const { data } = await listKeys(api);
    expect(data.find(({ id }) => id === body.id)?.revokedAt).toBe('2026-11-20T12:00:00.000Z');
  });

  test('answers 204 to a key that is revoked already, and keeps the time of the first', async () => {
    const api = await openWithAdmins();
    const { body } = await createKey(api);
    const revoke = () => api.request('DELETE', `/api/keys/${body.id}`, { key: ADMIN_KEY });
    await revoke();
    api.store.clock.advance(60_000);

    const { status } = await revoke();

    expect(status).toBe(204);
    expect((await api.store.apiKeys.find('acct_main', body.id))?.revokedAt?.toISOString()).toBe(
      '2026-11-20T12:00:00.000Z',
    );
  });

  test('lets a key revoke itself', async () => {
    const api = await openWithAdmins();

    const own = `/api/keys/key_${ADMIN_KEY.slice(-12)}`;
    const { status } = await api.request('DELETE', own, { key: ADMIN_KEY });
    api.store.clock.advance(999);

    expect([status, (await listKeys(api)).status]).toEqual([204, 401]);
  });

  test.each([
    ['of another account', ADMIN_KEY, FOREIGN_ADMIN_KEY],
    ['of the live environment, to a test key', TEST_ADMIN_KEY, ADMIN_KEY],
  ])('answers 404 to a key %s, as to one that never was', async (_case, key, other) => {
    const api = await openWithAdmins();
    const path = `/api/keys/key_${other.slice(-12)}`;

    const answer = await api.json('DELETE', path, { key });
    const ofNone = await api.json('DELETE', '/api/keys/key_none', { key });

    expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND']);
    expect(answer.body.error.message).toBe(ofNone.body.error.message);
    expect((await listKeys(api, '', other)).status).toBe(200);
  });
});
