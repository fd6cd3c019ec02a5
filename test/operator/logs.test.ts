/** The request log and the server's log: their entries, their readers, and data that they never contain. */
import { expect, test } from 'vitest';
import {
  isListed,
  REQUESTS_MAX,
  RequestLog,
  STRANGERS_MAX,
} from '../../src/domain/account/request-log.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { ServerLog } from '../../src/lib/server-log.ts';
import { ADMIN_KEY, FOREIGN_ADMIN_KEY, SANDBOX_ADMIN_KEY } from '../support/api/api-world.ts';
import { addKey, LIVE_KEY, openTestApi } from '../support/api/test-api.ts';
import { Browser, openDashboard, routesOf } from '../support/dashboard/dashboard-world.ts';
import { openUsersWorld, type UsersWorld } from '../support/dashboard/users-world.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const NUMBER = '+390612345678';

const OPERATOR = { accountId: 'acct_main', environment: 'live', scopes: ['admin'] } as const;

async function requests({ api }: Pick<UsersWorld, 'api'>, query = '', key = ADMIN_KEY) {
  const { body } = await api.json('GET', `/api/logs/requests${query}`, { key });
  return body as unknown as {
    readonly data: readonly Readonly<Record<string, unknown>>[];
    readonly total: number;
    readonly since: string;
    readonly keptMax: number;
  };
}

test('Each request of a key is listed with its route, answer and key', async () => {
  const world = await openUsersWorld();

  const asked = { key: ADMIN_KEY, body: { greeting: 'A secret word' } };
  const answer = await world.api.request('PATCH', '/api/agents/agent_0', asked);

  const { data, keptMax, since } = await requests(world, '?limit=1');
  expect(data).toEqual([
    {
      requestId: answer.headers.get('X-Request-Id'),
      at: world.store.clock.now().toISOString(),
      ...{ method: 'PATCH', route: '/api/agents/{agentId}', status: 404 },
      ...{ errorCode: 'AGENT_NOT_FOUND', durationMs: 0, actor: 'key' },
      ...{ actorId: `key_${ADMIN_KEY.slice(-12)}`, actorName: 'svc_live_…AAAA' },
      ...{ accountId: 'acct_main', environment: 'live' },
    },
  ]);
  expect({ keptMax, since }).toEqual({
    keptMax: REQUESTS_MAX,
    since: expect.stringMatching(/^\d{4}-/),
  });
});

test('A request is found by its id, its class of status, and a part of its route', async () => {
  const world = await openUsersWorld();
  await world.api.request('GET', '/api/agents', { key: ADMIN_KEY });
  const lost = await world.api.request('GET', '/api/calls/call_0', { key: ADMIN_KEY });
  const requestId = lost.headers.get('X-Request-Id');

  const byId = await requests(world, `?requestId=${requestId}`);
  const byClass = await requests(world, '?status=4xx');
  const byRoute = await requests(world, '?route=get%20/API/agents');
  const none = await requests(world, '?requestId=req_0');

  expect(byId.data).toMatchObject([{ requestId, route: '/api/calls/{callId}', status: 404 }]);
  expect(byClass.data).toMatchObject([{ requestId }]);
  expect(byRoute.data).toMatchObject([{ method: 'GET', route: '/api/agents', status: 200 }]);
  expect(none).toMatchObject({ data: [], total: 0 });
});

test('A key sees its own account and environment; the operator also requests without a key', async () => {
  const world = await openUsersWorld();
  for (const key of [ADMIN_KEY, SANDBOX_ADMIN_KEY, FOREIGN_ADMIN_KEY, 'wrong']) {
    await world.api.request('GET', '/api/voices', { key });
  }
  const seenBy = async (key: string) =>
    (await requests(world, '?route=voices', key)).data.map(({ actorName }) => actorName);

  expect(await seenBy(ADMIN_KEY)).toEqual(['svc_live_…AAAA', null]);
  expect(await seenBy(SANDBOX_ADMIN_KEY)).toEqual(['svc_test_…BBBB']);
  expect(await seenBy(FOREIGN_ADMIN_KEY)).toEqual(['svc_live_…CCCC']);
});

test('Editors see the requests of their account, admins the whole page, viewers none of it', async () => {
  const world = await openUsersWorld();
  await world.api.request('GET', '/api/voices', { key: 'wrong' });
  const statusOf = async (name: string, path: string) => {
    const key = await (await world.signIn(name)).key();
    return (await world.api.request('GET', path, { key })).status;
  };
  const seenBy = async (name: string) => {
    const key = await (await world.signIn(name)).key();
    return (await requests(world, '?status=4xx&route=voices', key)).total;
  };

  expect(await statusOf('viewer', '/api/logs/requests')).toBe(403);
  expect(await seenBy('editor')).toBe(0);
  expect(await seenBy('admin')).toBe(1);
  expect(await statusOf('editor', '/api/logs/server')).toBe(403);
  expect(await statusOf('admin', '/api/logs/server')).toBe(200);
});

test('What the page reads is not listed, what it changes and what fails is, with the user', async () => {
  const world = await openUsersWorld();
  const admin = await world.signIn('admin');
  const key = await admin.key();
  await world.api.request('GET', '/api/agents', { key });
  await world.api.request('GET', '/api/agents/agent_0', { key });
  await world.api.request('PATCH', '/api/agents/agent_1', { key, body: { name: 'Other' } });
  await admin.json('POST', '/dashboard/self-test', { body: {} });

  const { data } = await requests(world, '?limit=4');

  expect(data.map(({ method, route, status }) => [method, route, status])).toEqual([
    ['POST', '/dashboard/self-test', 202],
    ['PATCH', '/api/agents/{agentId}', 200],
    ['GET', '/api/agents/{agentId}', 404],
    ['POST', '/dashboard/login', 200],
  ]);
  expect(data[1]).toMatchObject({ actor: 'user', actorId: 'usr_admin', actorName: 'admin' });
});

test('Neither log has a number, a word or a secret, wherever a request carries it', async () => {
  const clock = new FakeClock();
  const serverLog = new ServerLog(clock);
  const secrets = ['hunter2hunter2', 'please-cancel-it', '390612345678', 'svc_live_GUESS'];
  const all = secrets.join(' ');
  const broken = () => Promise.reject(new Error(`disk: ${all}`));
  const api = await openTestApi((store) => ({
    ...routesOf(openDashboard(store)),
    log: serverLog.watching(silentLogger),
    serverLog,
    auditLog: { append: broken, page: broken },
    requestLog: new RequestLog(clock),
  }));
  const query = encodeURIComponent(all);
  const headers = {
    'X-Request-Id': all,
    'X-Forwarded-For': all,
    'User-Agent': all,
    'X-Idempotency-Key': secrets[1] ?? '',
    Cookie: `offhook_session=${secrets[0]}`,
  };
  const body = { greeting: all, [all]: all, phoneNumber: NUMBER, metadata: { all } };
  const paths = ['/api/agents', '/api/calls/outbound', '/api/voices', '/api/nothing'];
  const login = { name: all, password: all };

  for (const key of [LIVE_KEY, secrets[3] ?? '', null]) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'BREW']) {
      for (const path of paths) {
        const asked = { key, headers, ...(method === 'GET' ? {} : { body }) };
        await api.request(method, `${path}/${query}?q=${query}`, asked);
        await api.request(method, `${path}?q=${query}`, asked);
      }
      await api.request(method, `/api/phone-numbers/${NUMBER}`, { key, headers });
    }
  }
  await api.json('POST', '/api/agents', {
    body: { name: all, greeting: all, systemPrompt: all },
  });
  await new Browser(api).json('POST', '/dashboard/login', { body: login, headers });

  await addKey(api.store, ADMIN_KEY, OPERATOR);
  const read = async (path: string) =>
    (await api.request('GET', `${path}?limit=100`, { key: ADMIN_KEY })).text();
  const shown = `${await read('/api/logs/requests')}${await read('/api/logs/server')}`;
  expect(shown).toContain('/api/phone-numbers/{number}');
  expect(shown).toContain('audit: entry not written');
  expect(shown).toContain('"errorCode":"UNAUTHORIZED"');
  for (const secret of secrets) expect(shown).not.toContain(secret);
});

test('GET /api/logs/server filters by level, text and request, and leads back from a failed request', async () => {
  const clock = new FakeClock();
  const serverLog = new ServerLog(clock);
  const broken = () => Promise.reject(new Error('disk'));
  const api = await openTestApi({
    log: serverLog.watching(silentLogger),
    serverLog,
    auditLog: { append: broken, page: broken },
  });
  await addKey(api.store, ADMIN_KEY, OPERATOR);
  const failed = await api.json('GET', '/api/audit-log', { key: ADMIN_KEY });
  serverLog.watching(silentLogger).warn({}, 'trunk is down');
  const read = async (query: string) =>
    (await api.json('GET', `/api/logs/server${query}`, { key: ADMIN_KEY })).body.data;

  const { requestId } = failed.body.error;
  const entry = { level: 'error', component: 'http', message: 'http: request failed', requestId };
  expect(failed.status).toBe(500);
  expect(await read(`?requestId=${requestId}`)).toMatchObject([entry]);
  expect(await read('?text=REQUEST')).toMatchObject([entry]);
  expect(await read('?level=warn')).toMatchObject([{ message: 'trunk is down' }]);
  expect(await read('?limit=1&offset=1')).toMatchObject([entry]);
});

test('RequestLog keeps a fixed number, and strangers push no other request out', () => {
  const clock = new FakeClock();
  const log = new RequestLog(clock);
  const entry = (actor: 'key' | 'none') => ({
    requestId: 'req_1',
    at: clock.now(),
    ...{ method: 'GET', route: '/api/agents', status: 200, errorCode: null, durationMs: 1 },
    ...{ actor, actorId: null, actorName: null, accountId: null, environment: null },
  });

  for (let count = 0; count < REQUESTS_MAX + 10; count += 1) log.add(entry('key'));
  for (let count = 0; count < 2 * REQUESTS_MAX; count += 1) log.add(entry('none'));

  const kept = log.newestFirst();
  expect(kept.filter(({ actor }) => actor === 'key')).toHaveLength(REQUESTS_MAX);
  expect(kept.filter(({ actor }) => actor === 'none')).toHaveLength(STRANGERS_MAX);
});

test.each([
  ['GET', '/api/agents', 200, false, true],
  ['GET', '/api/agents', 200, true, false],
  ['HEAD', '/api/agents', 200, true, false],
  ['GET', '/api/agents', 500, true, true],
  ['POST', '/api/agents', 201, true, true],
  ['POST', '/dashboard/key', 200, true, false],
  ['POST', '/dashboard/key', 401, true, true],
])('isListed: %s %s with %i, by the dashboard %s: %s', (method, route, status, isDashboard, expected) => {
  expect(isListed({ method, route, status, isDashboard })).toBe(expected);
});
