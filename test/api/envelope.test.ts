/** The envelope of errors where no route answers; `matrix.test.ts` asks the routes. */
import { expect, test } from 'vitest';
import { errorFaults } from '../support/api/error-answer.ts';
import { openTestApi, type RequestOptions, type TestApi } from '../support/api/test-api.ts';

/** Asks, and looks at everything that an error answer must have. */
async function expectError(
  api: TestApi,
  [method, path, options]: readonly [string, string, RequestOptions],
  expected: { readonly status: number; readonly code: string },
): Promise<Response> {
  const response = await api.request(method, path, options);
  expect(await errorFaults(response, expected)).toEqual([]);
  return response;
}

test('A charset in the content type is taken', async () => {
  const api = await openTestApi();
  const body = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };

  const response = await api.request('POST', '/api/agents', { body, headers });

  expect(response.status).toBe(201);
});

test.each([
  ['PUT', '/api/agents', 'GET, HEAD, POST'],
  ['POST', '/api/agents/agent_1', 'DELETE, GET, HEAD, PATCH'],
  ['DELETE', '/api/calls', 'GET, HEAD'],
  ['PATCH', '/api/calls/call_1/recording', 'GET, HEAD'],
  ['OPTIONS', '/api/calls', 'GET, HEAD'],
  ['GET', '/api/calls/outbound', 'POST'],
  ['PUT', '/api/calls/outbound', 'POST'],
])('%s %s answers 404 with Allow: %s', async (method, path, allow) => {
  const api = await openTestApi();

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
  const api = await openTestApi();

  const { status, body } = await api.json('GET', path);

  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
});

test('GET /api/nothing answers 401 without a key', async () => {
  const api = await openTestApi();

  const options = { key: null };
  await expectError(api, ['GET', '/api/nothing', options], { status: 401, code: 'UNAUTHORIZED' });
});

test('GET /nothing answers 404 with the envelope, without counting', async () => {
  const api = await openTestApi();

  const response = await api.request('GET', '/nothing', { key: null });

  expect(response.status).toBe(404);
  expect(response.headers.has('X-RateLimit-Limit')).toBe(false);
  await expect(response.json()).resolves.toMatchObject({ error: { code: 'NOT_FOUND' } });
});
