import { describe, expect, test } from 'vitest';
import { buildAgent } from '../support/build-agent.ts';
import { buildCall } from '../support/build-call.ts';
import {
  addKey,
  FOREIGN_KEY,
  openTestApi,
  type RequestOptions,
  TEST_KEY,
  type TestApi,
} from '../support/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const SCOPELESS_KEY = `svc_live_${'9'.repeat(32)}`;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** Every route that needs a key, with a body where one is needed. */
const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/api/agents' },
  { method: 'POST', path: '/api/agents', body: DRAFT },
  { method: 'GET', path: '/api/agents/agent_1' },
  { method: 'PATCH', path: '/api/agents/agent_1', body: { name: 'New' } },
  { method: 'DELETE', path: '/api/agents/agent_1' },
  { method: 'GET', path: '/api/calls' },
  { method: 'GET', path: '/api/calls/call_1' },
  { method: 'GET', path: '/api/calls/call_1/events' },
  { method: 'GET', path: '/api/calls/call_1/recording' },
];

const WITH_ID = ROUTES.filter(({ path }) => path.includes('_1'));

const WITH_BODY = ROUTES.filter(({ body }) => body !== undefined);

const API_HEADERS = [
  'x-request-id',
  'x-api-version',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-content-type-options',
  'content-security-policy',
];

async function openWithAgent(): Promise<TestApi> {
  const api = await openTestApi();
  api.store.agents.insert(buildAgent({ accountId: 'acct_main' }));
  api.store.calls.insert(buildCall({ accountId: 'acct_main', status: 'completed' }), []);
  addKey(api.store, SCOPELESS_KEY, { accountId: 'acct_main', environment: 'live', scopes: [] });
  return api;
}

/** Looks at everything that an error answer must have. */
async function expectError(
  api: TestApi,
  [method, path, options]: readonly [string, string, RequestOptions],
  expected: { readonly status: number; readonly code: string },
): Promise<Response> {
  const response = await api.request(method, path, options);
  const text = await response.text();
  const { error } = JSON.parse(text);
  expect({ status: response.status, inBody: error.status, code: error.code }).toEqual({
    status: expected.status,
    inBody: expected.status,
    code: expected.code,
  });
  expect(error.requestId).toMatch(/^req_[0-9A-Za-z]{24}$/);
  expect(error.requestId).toBe(response.headers.get('X-Request-Id'));
  expect(response.headers.get('Content-Type')).toBe('application/json');
  expect([...response.headers.keys()]).toEqual(expect.arrayContaining(API_HEADERS));
  expect(text).not.toMatch(/node_modules|\.ts:|SQLITE|at .*\(/);
  return response;
}

describe.each(ROUTES)('$method $path', ({ method, path, body }) => {
  test('answers 401 without a valid key', async () => {
    const api = await openWithAgent();

    for (const key of [null, `svc_live_${'8'.repeat(32)}`, 'hello', '']) {
      const expected = { status: 401, code: 'UNAUTHORIZED' };
      const response = await expectError(api, [method, path, { key, body }], expected);
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
    }
  });

  test('answers 403 to a key without the scope', async () => {
    const api = await openWithAgent();

    const options = { key: SCOPELESS_KEY, body };
    await expectError(api, [method, path, options], { status: 403, code: 'FORBIDDEN' });
  });

  test('has every header on success as well', async () => {
    const api = await openWithAgent();

    const response = await api.request(method, path, { body });

    expect([...response.headers.keys()]).toEqual(expect.arrayContaining(API_HEADERS));
  });
});

describe.each(WITH_ID)('$method $path', ({ method, path, body }) => {
  test.each([
    ['another account', FOREIGN_KEY],
    ['the other environment', TEST_KEY],
  ])('answers to %s as if the resource had never been, byte for byte', async (_case, key) => {
    const api = await openWithAgent();
    const code = path.includes('agents') ? 'AGENT_NOT_FOUND' : 'CALL_NOT_FOUND';
    const bodyOf = async (target: string) => {
      const response = await expectError(api, [method, target, { key, body }], {
        status: 404,
        code,
      });
      const again = await api.request(method, target, { key, body });
      expect(again.status).toBe(response.status);
      return (await again.text()).replace(/req_\w+/, 'req_');
    };

    const ofTheirs = await bodyOf(path);
    const ofNone = await bodyOf(path.replace('_1', '_none'));

    expect(ofTheirs).toBe(ofNone);
  });
});

describe.each(WITH_BODY)('$method $path', ({ method, path, body }) => {
  test.each([
    ['JSON that is cut off', { text: '{"name":' }],
    ['no JSON at all', { text: 'hello' }],
    ['an empty body', { text: '' }],
    ['a body of no type', { text: JSON.stringify(body), headers: { 'Content-Type': '' } }],
    [
      'a form',
      { text: 'name=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    ],
    ['plain text', { text: JSON.stringify(body), headers: { 'Content-Type': 'text/plain' } }],
    ['a body over 1 MiB', { text: JSON.stringify({ name: 'x'.repeat(1024 * 1024) }) }],
    ['a hundred thousand brackets', { text: '['.repeat(100_000) }],
  ])('answers 400 to %s', async (_case, options) => {
    const api = await openWithAgent();

    const expected = { status: 400, code: 'VALIDATION_ERROR' };
    await expectError(api, [method, path, options], expected);
  });

  test('takes a charset in the content type', async () => {
    const api = await openWithAgent();
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };

    const response = await api.request(method, path, { body, headers });

    expect(response.ok).toBe(true);
  });
});

test.each([
  ['PUT', '/api/agents', 'GET, HEAD, POST'],
  ['POST', '/api/agents/agent_1', 'DELETE, GET, HEAD, PATCH'],
  ['DELETE', '/api/calls', 'GET, HEAD'],
  ['PATCH', '/api/calls/call_1/recording', 'GET, HEAD'],
  ['OPTIONS', '/api/calls', 'GET, HEAD'],
])('%s %s answers 404 with Allow: %s', async (method, path, allow) => {
  const api = await openWithAgent();

  const response = await expectError(api, [method, path, {}], { status: 404, code: 'NOT_FOUND' });

  expect(response.headers.get('Allow')).toBe(allow);
});

test.each([
  '/api',
  '/api/',
  '/api/nothing',
  '/api/agents/a/b',
  '/api/%E0%A4%A',
  '/api//agents',
])('GET %s answers 404 to a key', async (path) => {
  const api = await openWithAgent();

  const { status, body } = await api.json('GET', path);

  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
});

test('GET /api/nothing answers 401 without a key', async () => {
  const api = await openWithAgent();

  const options = { key: null };
  await expectError(api, ['GET', '/api/nothing', options], { status: 401, code: 'UNAUTHORIZED' });
});

test('GET /nothing answers 404 with the envelope, without counting', async () => {
  const api = await openWithAgent();

  const response = await api.request('GET', '/nothing', { key: null });

  expect(response.status).toBe(404);
  expect(response.headers.has('X-RateLimit-Limit')).toBe(false);
  await expect(response.json()).resolves.toMatchObject({ error: { code: 'NOT_FOUND' } });
});
