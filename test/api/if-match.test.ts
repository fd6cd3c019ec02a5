/** `ETag` and `If-Match`: two people who change the same agent, tool, calendar, gateway or MCP server do not undo each other's work. */
import { expect, test } from 'vitest';
import { addKey, openTestApi, type TestApi } from '../support/api/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

async function openAgent() {
  const api = await openTestApi();
  const made = await api.request('POST', '/api/agents', { body: DRAFT });
  const { id } = (await made.json()) as { id: string };
  return { api, path: `/api/agents/${id}`, made: made.headers.get('etag') ?? '' };
}

async function tagOf(api: TestApi, path: string): Promise<string> {
  return (await api.request('GET', path)).headers.get('etag') ?? '';
}

const patch = (api: TestApi, path: string, tag: string, body: object = { greeting: 'Hi' }) =>
  api.request('PATCH', path, { body, headers: { 'If-Match': tag } });

test('an agent has the entity tag of its last change in POST, GET and PATCH', async () => {
  const { api, path, made } = await openAgent();
  const shown = await tagOf(api, path);

  const changed = (await api.request('PATCH', path, { body: { name: 'Tall' } })).headers;

  expect(made).toBe('"2026-11-20T12:00:00.000Z"');
  expect(shown).toBe(made);
  expect(changed.get('etag')).toBe('"2026-11-20T12:00:00.001Z"');
  expect(await tagOf(api, path)).toBe(changed.get('etag'));
});

test('a repeated POST answers with the entity tag of the first answer', async () => {
  const api = await openTestApi();
  const options = { body: DRAFT, headers: { 'X-Idempotency-Key': 'one' } };
  const first = await api.request('POST', '/api/agents', options);
  api.store.clock.advance(60_000);

  const again = await api.request('POST', '/api/agents', options);

  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
});

test('PATCH with If-Match changes the agent that is as it was read, and answers the next tag', async () => {
  const { api, path, made } = await openAgent();

  const first = await patch(api, path, made);
  const second = await patch(api, path, first.headers.get('etag') ?? '', { name: 'Tall' });

  expect([first.status, second.status]).toEqual([200, 200]);
  expect((await api.json('GET', path)).body).toMatchObject({ name: 'Tall', greeting: 'Hi' });
});

test.each([
  ['weak', (tag: string) => `W/${tag}`],
  ['marked with its coding', (tag: string) => tag.replace(/"$/, '-gzip"')],
])('PATCH with If-Match takes a tag that a compressing proxy has made %s', async (_, changedBy) => {
  const { api, path, made } = await openAgent();

  const first = await patch(api, path, changedBy(made));
  const late = await patch(api, path, changedBy(made));

  expect([first.status, late.status]).toEqual([200, 412]);
});

test('PATCH with If-Match answers 412 when the agent was changed meanwhile, and changes nothing', async () => {
  const { api, path, made } = await openAgent();
  const theirs = await api.request('PATCH', path, { body: { systemPrompt: 'Be kind.' } });

  const mine = await patch(api, path, made);

  expect(mine.status).toBe(412);
  expect(mine.headers.get('etag')).toBe(theirs.headers.get('etag'));
  expect(await mine.json()).toMatchObject({ error: { code: 'PRECONDITION_FAILED', status: 412 } });
  expect((await api.json('GET', path)).body).toMatchObject({
    greeting: 'Hello',
    systemPrompt: 'Be kind.',
  });
});

test.each([
  ['*', 200],
  ['"other", "2026-11-20T12:00:00.000Z"', 200],
  ['W/"other"', 412],
  ['2026-11-20T12:00:00.000Z', 412],
  ['', 412],
])('PATCH with If-Match %j answers %d', async (tag, status) => {
  const { api, path } = await openAgent();

  expect((await patch(api, path, tag)).status).toBe(status);
});

test('a number is taken away with If-Match of the newest tag only', async () => {
  const { api, path, made } = await openAgent();
  const headers = { 'If-Match': made };
  const changed = await patch(api, path, made, { phoneNumber: '+12025550123' });

  const late = await api.request('DELETE', `${path}/phone-number`, { headers });
  const inTime = await api.request('DELETE', `${path}/phone-number`, {
    headers: { 'If-Match': changed.headers.get('etag') ?? '' },
  });

  expect([late.status, inTime.status]).toEqual([412, 204]);
});

test('DELETE and restore with If-Match answer 412 when the agent was changed meanwhile', async () => {
  const { api, path, made } = await openAgent();
  const headers = { 'If-Match': made };
  await api.request('PATCH', path, { body: { greeting: 'Hi' } });

  const deleted = await api.request('DELETE', path, { headers });
  const restored = await api.request('POST', `${path}/versions/1/restore`, { headers });
  const current = { 'If-Match': await tagOf(api, path) };
  const restoredNow = await api.request('POST', `${path}/versions/1/restore`, { headers: current });
  const after = { 'If-Match': restoredNow.headers.get('etag') ?? '' };
  const deletedNow = await api.request('DELETE', path, { headers: after });

  const answers = [deleted, restored, restoredNow, deletedNow];
  expect(answers.map(({ status }) => status)).toEqual([412, 412, 200, 204]);
});

const ADMIN_KEY = `svc_live_${'A'.repeat(32)}`;

const REQUEST = {
  parameters: { type: 'object', properties: {} },
  description: 'Looks up an order.',
  method: 'GET',
  url: 'https://shop.example.com',
};

const RESOURCES = [
  ['tool', '/api/tools', REQUEST, { timeoutMs: 900 }],
  ['calendar', '/api/calendars', { kind: 'builtin', timeZone: 'Europe/Rome' }, { slotMinutes: 20 }],
  [
    'MCP server',
    '/api/mcp-servers',
    { url: 'https://shop.example.com', allowedTools: [] },
    { allowedTools: ['a'] },
  ],
  [
    'SMS gateway',
    '/api/sms-gateways',
    { preset: 'webhook', from: 'Shop', url: 'https://sms.example.com' },
    { dailyMax: 5 },
  ],
] as const;

async function openResource(list: string, fields: object) {
  const api = await openTestApi();
  const scopes = ['admin', 'agents:read', 'agents:write'] as const;
  await addKey(api.store, ADMIN_KEY, { accountId: 'acct_main', environment: 'live', scopes });
  const ask = (method: string, path: string, options: object = {}) =>
    api.request(method, path, { key: ADMIN_KEY, ...options });
  const made = await ask('POST', list, { body: { name: 'shop', ...fields } });
  expect(made.status).toBe(201);
  return { ask, path: `${list}/shop`, made: made.headers.get('etag') ?? '' };
}

test.each(
  RESOURCES,
)('a %s changes with If-Match of its newest tag only, and has the tag in POST, GET and PATCH', async (_, list, fields, change) => {
  const { ask, path, made } = await openResource(list, fields);
  const change1 = { body: change, headers: { 'If-Match': made } };

  const first = await ask('PATCH', path, change1);
  const late = await ask('PATCH', path, change1);

  const newest = first.headers.get('etag');
  const seen = await ask('GET', path);
  expect([first.status, late.status]).toEqual([200, 412]);
  expect([newest === made, seen.headers.get('etag')]).toEqual([false, newest]);
  expect(late.headers.get('etag')).toBe(newest);
  expect(await seen.json()).toMatchObject(change);
});

test.each(
  RESOURCES,
)('a %s is deleted with If-Match of its newest tag only', async (_, list, fields, change) => {
  const { ask, path, made } = await openResource(list, fields);
  const headers = { 'If-Match': made };
  const changed = await ask('PATCH', path, { body: change });

  const late = await ask('DELETE', path, { headers });
  const inTime = await ask('DELETE', path, {
    headers: { 'If-Match': changed.headers.get('etag') ?? '' },
  });

  expect([late.status, inTime.status]).toEqual([412, 204]);
});
