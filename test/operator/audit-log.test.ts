/** The audit log: what is written, by which actor, and what never is. */
import { expect, test } from 'vitest';
import { isAudited, resourceOf } from '../../src/domain/account/audit-log.ts';
import { openLogger } from '../../src/lib/logger.ts';
import { ADMIN_KEY, keyOf } from '../support/api/api-world.ts';
import { ask, OPERATIONS } from '../support/api/ask-operations.ts';
import { LIVE_KEY, openTestApi } from '../support/api/test-api.ts';
import { Browser, PASSWORD } from '../support/dashboard/dashboard-world.ts';
import { openUsersWorld, type UsersWorld } from '../support/dashboard/users-world.ts';

async function entries({ store }: Pick<UsersWorld, 'store'>, query = {}) {
  return (await store.auditLog.page({ limit: 100, offset: 0, ...query })).items;
}

async function countOf(world: UsersWorld, action: string): Promise<number> {
  return (await entries(world, { limit: 1000 })).filter((entry) => entry.action === action).length;
}

test('Each change is written with user, address, route and resource', async () => {
  const world = await openUsersWorld();
  const editor = await world.signIn('editor');
  const key = await editor.key();

  const options = { key, body: { greeting: 'A secret word' }, remoteAddress: '203.0.113.9' };
  await world.api.request('PATCH', '/api/agents/agent_1', options);
  await world.api.request('GET', '/api/agents/agent_1', { key });

  const [newest] = await entries(world, { actorId: 'usr_editor' });
  expect(newest).toEqual({
    id: expect.stringMatching(/^aud_\w{24}$/),
    at: world.store.clock.now(),
    ...{ actor: 'user', actorId: 'usr_editor', actorName: 'editor', address: '203.0.113.9' },
    ...{ action: 'PATCH /api/agents/{agentId}', resource: 'agent_1', status: 200 },
    ...{ accountId: 'acct_main', environment: 'live' },
  });
});

test('Every change over the API that succeeds has exactly one entry, whichever operation makes it', async () => {
  const world = await openUsersWorld();
  const key = await (await world.signIn('admin')).key();
  const testKey = await (await world.signIn('admin')).key({ environment: 'test' });
  // What deletes comes last, so that the others still find what they change.
  const changes = OPERATIONS.filter(({ method }) => method !== 'GET').toSorted(
    (one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'),
  );
  const faults: string[] = [];
  let succeeded = 0;
  for (const operation of changes) {
    const action = `${operation.method.toUpperCase()} ${operation.path}`;
    const before = await countOf(world, action);
    const isLive = keyOf(operation).startsWith('svc_live_');
    const response = await ask(world, operation, { key: isLive ? key : testKey });
    await response.text();
    const written = (await countOf(world, action)) - before;
    if (written !== Number(response.ok)) faults.push(`${action} ${response.status}: ${written}`);
    if (response.ok) succeeded += 1;
  }

  expect(faults).toEqual([]);
  // The others need a call, a model or a receiver that the test's world has none of.
  expect(succeeded).toBeGreaterThan(30);
});

test('Every changing route of the server is one that is written, but for that of keys of open pages', async () => {
  const { api } = await openUsersWorld();
  const actions = api.app.routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((action) => /^(POST|PUT|PATCH|DELETE) \/(api|dashboard)\//.test(action));

  const unwritten = new Set(actions.filter((action) => !isAudited(action, 200)));

  expect([...unwritten]).toEqual(['POST /dashboard/key']);
});

test('A key is named by id, prefix and last four characters, and what it made by its id', async () => {
  const world = await openUsersWorld();

  const { body } = await world.api.json('POST', '/api/keys', {
    key: ADMIN_KEY,
    body: { name: 'Booking' },
  });

  const [newest] = await entries(world);
  expect(newest).toMatchObject({ actor: 'key', actorName: 'svc_live_…AAAA', resource: body.id });
});

test('Refused and failed requests are not written, attempts to sign in are', async () => {
  const world = await openUsersWorld();
  const before = (await entries(world)).length;
  const viewer = await world.signIn('viewer');
  const key = await viewer.key();
  await world.api.request('DELETE', '/api/agents/agent_1', { key });
  await world.api.request('POST', '/api/agents', { key: ADMIN_KEY, body: {} });
  const wrong = { name: 'editor', password: 'wrong horse battery' };
  await new Browser(world.api).json('POST', '/dashboard/login', { body: wrong });
  const nemo = { name: 'my password by mistake', password: PASSWORD };
  await new Browser(world.api).json('POST', '/dashboard/login', { body: nemo });

  const written = (await entries(world)).slice(0, -before || undefined);

  expect(
    written.map(({ actor, action, resource, status }) => [actor, action, resource, status]),
  ).toEqual([
    ['none', 'POST /dashboard/login', null, 401],
    ['none', 'POST /dashboard/login', 'usr_editor', 401],
    ['user', 'POST /dashboard/login', 'usr_viewer', 200],
  ]);
});

test('An entry has no secret, no body, and no telephone number', async () => {
  const world = await openUsersWorld();
  const admin = await world.signIn('admin');
  const key = await admin.key();
  await world.api.request('PUT', '/api/sms-opt-outs/+390612345679', { key });
  await world.api.request('POST', '/api/keys', { key, body: { name: 'a secret name' } });
  const invite = await admin.json('POST', '/dashboard/invites', { body: { role: 'viewer' } });
  const token = invite.body.url.split('token=')[1] ?? '';
  const body = { token, name: 'grace', password: 'a horse of her own' };
  await new Browser(world.api).json('POST', '/dashboard/join', { body });

  const text = JSON.stringify(await entries(world));

  expect(text).toContain('PUT /api/sms-opt-outs/{number}');
  for (const secret of ['39061234567', 'a secret name', token, body.password, 'scrypt']) {
    expect(text).not.toContain(secret);
  }
});

test('An idempotent replay is written once', async () => {
  const world = await openUsersWorld();
  const headers = { 'X-Idempotency-Key': 'once' };
  const options = { key: ADMIN_KEY, headers, body: { name: 'Booking' } };
  await world.api.request('POST', '/api/keys', options);
  await world.api.request('POST', '/api/keys', options);

  const written = (await entries(world)).filter(({ action }) => action === 'POST /api/keys');

  expect(written).toHaveLength(1);
});

test('An entry that cannot be written is logged and counted, and the change stays', async () => {
  const lines: string[] = [];
  const log = openLogger('error', { write: (line: string) => lines.push(line) });
  const failing = { append: () => Promise.reject(new Error('disk')), page: () => Promise.reject() };
  const api = await openTestApi({ log, auditLog: failing });

  const created = await api.json('POST', '/api/agents', {
    key: LIVE_KEY,
    body: { name: 'A', greeting: 'Hello.', systemPrompt: 'Be brief.' },
  });

  expect(created.status).toBe(201);
  expect(lines.join()).toContain('audit: entry not written');
  expect(await api.metrics.render()).toContain('offhook_audit_entries_lost_total 1');
});

test('GET /api/audit-log pages and filters, for the operator alone', async () => {
  const world = await openUsersWorld();
  for (const name of ['a', 'b', 'c']) {
    await world.api.request('POST', '/api/keys', { key: ADMIN_KEY, body: { name } });
  }
  const admin = await world.signIn('admin');
  const ask = async (query: string, key: string) =>
    (await world.api.json('GET', `/api/audit-log${query}`, { key })).body;
  const key = await admin.key();

  const page = await ask('?limit=2&offset=1', key);
  const own = await ask('?actorId=usr_admin', key);
  const one = await ask(`?resource=${(await entries(world))[1]?.resource}`, ADMIN_KEY);

  expect(page.data).toHaveLength(2);
  expect(page.total).toBeGreaterThan(3);
  expect(own.data).toMatchObject([{ action: 'POST /dashboard/login', actorName: 'admin' }]);
  expect(one.data).toMatchObject([{ action: 'POST /api/keys' }]);
  expect((await ask('', LIVE_KEY)).error.code).toBe('FORBIDDEN');
});

test.each([
  ['PATCH /api/agents/{agentId}', 200, true],
  ['PATCH /api/agents/{agentId}', 409, false],
  ['GET /api/agents', 200, false],
  ['POST /dashboard/key', 200, false],
  ['POST /dashboard/login', 401, true],
  ['POST /dashboard/login', 429, false],
  ['POST /dashboard/password', 403, true],
])('isAudited: %s with %i is %s', (action, status, expected) => {
  expect(isAudited(action, status)).toBe(expected);
});

test.each([
  ['/api/agents/{agentId}', '/api/agents/agent_1', undefined, 'agent_1'],
  ['/api/agents/{agentId}/knowledge', '/api/agents/agent_1/knowledge', '/api/x/doc_1', 'doc_1'],
  ['/api/phone-numbers/{number}', '/api/phone-numbers/+390612345678', undefined, null],
  ['/api/sms-opt-outs/{number}', '/api/sms-opt-outs/390612345678', '/a/+390612345678', null],
  ['/api/trunks/{trunkName}', '/api/trunks/390612345678', undefined, null],
  ['/api/agents', '/api/agents', undefined, null],
])('resourceOf names what %s was about', (route, path, location, expected) => {
  expect(resourceOf(route, path, location)).toBe(expected);
});
