/** `ETag` and `If-Match` of agents: two people who change the same agent do not undo each other's work. */
import { expect, test } from 'vitest';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';

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
  ['W/"2026-11-20T12:00:00.000Z"', 412],
  ['2026-11-20T12:00:00.000Z', 412],
  ['', 412],
])('PATCH with If-Match %j answers %d', async (tag, status) => {
  const { api, path } = await openAgent();

  expect((await patch(api, path, tag)).status).toBe(status);
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
