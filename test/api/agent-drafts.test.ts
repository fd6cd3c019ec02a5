/** `/api/agents/{agentId}/draft`: what a draft keeps, what it must pass, and how it goes live. */
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import {
  addKey,
  FOREIGN_KEY,
  openTestApi,
  TEST_KEY,
  type TestApi,
} from '../support/api/test-api.ts';
import { openUsersWorld } from '../support/dashboard/users-world.ts';

const AGENT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const NUMBER = '+390612345678';

async function openAgent(fields: object = {}) {
  const api = await openTestApi();
  const made = await api.json('POST', '/api/agents', { body: { ...AGENT, ...fields } });
  const path = `/api/agents/${made.body.id}`;
  return { api, id: made.body.id, path, draftPath: `${path}/draft` };
}

function save(api: TestApi, draftPath: string, body: object, headers = {}) {
  api.store.clock.advance(1000);
  return api.request('PUT', draftPath, { body, headers });
}

async function change(api: TestApi, path: string, body: object): Promise<void> {
  api.store.clock.advance(1000);
  expect((await api.request('PATCH', path, { body })).status).toBe(200);
}

async function tagOf(api: TestApi, path: string): Promise<string> {
  return (await api.request('GET', path)).headers.get('etag') ?? '';
}

const publish = (api: TestApi, draftPath: string, headers = {}) =>
  api.json('POST', `${draftPath}/publish`, { headers });

async function countOfVersions(api: TestApi, path: string): Promise<number> {
  return (await api.json('GET', `${path}/versions`)).body.total;
}

describe('PUT /api/agents/{agentId}/draft', () => {
  test('keeps the changes, and the agent stays as it is', async () => {
    const { api, path, draftPath } = await openAgent();
    const live = (await api.json('GET', path)).body;
    const changes = { greeting: 'Hi', settings: { interruptible: false } };

    const answer = await save(api, draftPath, changes);

    const kept = {
      changes,
      basedOnAt: '2026-11-20T12:00:00.000Z',
      by: 'api',
      updatedAt: '2026-11-20T12:00:01.000Z',
    };
    expect([answer.status, await answer.json()]).toEqual([200, kept]);
    expect(await api.json('GET', draftPath)).toEqual({ status: 200, body: kept });
    expect((await api.json('GET', path)).body).toEqual({ ...live, draftAt: kept.updatedAt });
    expect(await countOfVersions(api, path)).toBe(1);
  });

  test('replaces the draft before', async () => {
    const { api, draftPath } = await openAgent();
    await save(api, draftPath, { greeting: 'Hi', tools: ['end_call'] });

    await save(api, draftPath, { name: 'Tall' });

    expect((await api.json('GET', draftPath)).body).toMatchObject({ changes: { name: 'Tall' } });
  });

  test.each([
    ['an empty body', {}, 400],
    ['an unknown field', { salutation: 'Hi' }, 400],
    ['a blank greeting', { greeting: ' ' }, 400],
    ['an unknown voice', { voice: 'xx-XX-NoneNeural' }, 400],
    ['an unknown tool', { tools: ['no_such_tool'] }, 400],
    ['an unknown calendar', { calendar: 'none' }, 400],
    ['a schema that cannot be used', { extract: { type: 'nothing' } }, 400],
    ['null for the number that it has', { phoneNumber: null }, 400],
    ['the status that it has', { status: 'active' }, 409],
    ['the number of another agent', { phoneNumber: '+390698765432' }, 409],
    ['an impossible number', { phoneNumber: '+39061' }, 422],
  ])('answers as PATCH to %s, and keeps the draft before', async (_case, body, status) => {
    const { api, path, draftPath } = await openAgent({ phoneNumber: NUMBER });
    await api.request('POST', '/api/agents', { body: { ...AGENT, phoneNumber: '+390698765432' } });
    await save(api, draftPath, { name: 'Tall' });

    const answer = await api.json('PUT', draftPath, { body });
    const patched = await api.json('PATCH', path, { body });

    const told = ({ body: { error } }: typeof answer) => ({ ...error, requestId: '' });
    expect(answer.status).toBe(status);
    expect(told(answer)).toEqual(told(patched));
    expect((await api.json('GET', draftPath)).body).toMatchObject({ changes: { name: 'Tall' } });
  });

  test('with If-Match answers 412 when the draft was saved, published or discarded meanwhile', async () => {
    const { api, path, draftPath } = await openAgent();
    const live = await tagOf(api, path);
    const first = await save(api, draftPath, { greeting: 'Hi' }, { 'If-Match': live });
    const tag = first.headers.get('etag') ?? '';
    const second = await save(api, draftPath, { greeting: 'Hey' }, { 'If-Match': tag });

    const begun = await save(api, draftPath, { name: 'A' }, { 'If-Match': live });
    const older = await save(api, draftPath, { name: 'B' }, { 'If-Match': tag });
    await api.request('DELETE', draftPath);
    const newest = second.headers.get('etag') ?? '';
    const gone = await save(api, draftPath, { name: 'C' }, { 'If-Match': newest });

    expect([first.status, second.status]).toEqual([200, 200]);
    expect([begun.status, older.status, gone.status]).toEqual([412, 412, 412]);
    expect(older.headers.get('etag')).toBe(newest);
    expect(gone.headers.get('etag')).toBe(live);
  });

  test('with If-Match answers 412 when the agent was changed meanwhile', async () => {
    const { api, path, draftPath } = await openAgent();
    const tag = (await save(api, draftPath, { greeting: 'Hi' })).headers.get('etag') ?? '';
    await change(api, path, { greeting: 'Hey' });

    const mine = await save(api, draftPath, { greeting: 'Ho' }, { 'If-Match': tag });
    const newest = mine.headers.get('etag') ?? '';
    const again = await save(api, draftPath, { greeting: 'Ho' }, { 'If-Match': newest });

    expect([mine.status, again.status]).toEqual([412, 200]);
    expect(newest).not.toBe(tag);
  });
});

describe('DELETE /api/agents/{agentId}/draft', () => {
  test('discards the draft, and answers 404 where there is none', async () => {
    const { api, path, draftPath } = await openAgent();
    await save(api, draftPath, { greeting: 'Hi' });

    const discarded = await api.request('DELETE', draftPath);
    const again = await api.request('DELETE', draftPath);

    expect([discarded.status, again.status]).toEqual([204, 404]);
    expect(await api.json('GET', draftPath)).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    });
    expect((await api.json('GET', path)).body).toMatchObject({ greeting: 'Hello' });
  });

  test('with If-Match keeps a draft that another one has saved meanwhile', async () => {
    const { api, draftPath } = await openAgent();
    const tag = (await save(api, draftPath, { greeting: 'Hi' })).headers.get('etag') ?? '';
    await save(api, draftPath, { greeting: 'Hey' });

    const answer = await api.request('DELETE', draftPath, { headers: { 'If-Match': tag } });

    expect(answer.status).toBe(412);
    expect((await api.json('GET', draftPath)).body).toMatchObject({ changes: { greeting: 'Hey' } });
  });
});

describe('POST /api/agents/{agentId}/draft/publish', () => {
  test('makes the changes live as one version, and the draft is gone', async () => {
    const { api, path, draftPath } = await openAgent();
    await save(api, draftPath, { greeting: 'Hi', settings: { interruptible: false } });

    const { status, body } = await publish(api, draftPath);

    expect(status).toBe(200);
    expect(body).toMatchObject({ greeting: 'Hi', name: 'Till' });
    expect(body).toEqual((await api.json('GET', path)).body);
    expect((await api.json('GET', `${path}/versions`)).body.data).toMatchObject([
      { version: 2, changed: ['greeting', 'settings.interruptible'] },
      { version: 1 },
    ]);
    expect((await api.request('GET', draftPath)).status).toBe(404);
  });

  test('answers 412 when the agent was changed since, until If-Match names it as it is', async () => {
    const { api, path, draftPath } = await openAgent();
    await save(api, draftPath, { greeting: 'Hi' });
    const old = await tagOf(api, path);
    await change(api, path, { systemPrompt: 'Be kind.' });

    const blind = await publish(api, draftPath);
    const outdated = await publish(api, draftPath, { 'If-Match': old });
    const between = (await api.json('GET', path)).body;
    const seen = await publish(api, draftPath, { 'If-Match': await tagOf(api, path) });

    expect([blind.status, outdated.status, seen.status]).toEqual([412, 412, 200]);
    expect(blind.body.error.code).toBe('PRECONDITION_FAILED');
    expect(between).toMatchObject({ greeting: 'Hello', systemPrompt: 'Be kind.' });
    expect(seen.body).toMatchObject({ greeting: 'Hi', systemPrompt: 'Be kind.' });
  });

  test('takes the tag of the draft, and answers 412 when the draft was replaced since', async () => {
    const { api, draftPath } = await openAgent();
    const tag = (await save(api, draftPath, { greeting: 'Hi' })).headers.get('etag') ?? '';
    await save(api, draftPath, { greeting: 'Hey' });

    const older = await publish(api, draftPath, { 'If-Match': tag });
    const newest = await publish(api, draftPath, { 'If-Match': await tagOf(api, draftPath) });

    expect([older.status, newest.status]).toEqual([412, 200]);
    expect(newest.body).toMatchObject({ greeting: 'Hey' });
  });

  test('checks again what may have changed since the draft was saved', async () => {
    const { api, path, draftPath } = await openAgent();
    await save(api, draftPath, { phoneNumber: NUMBER });
    await api.request('POST', '/api/agents', { body: { ...AGENT, phoneNumber: NUMBER } });

    const answer = await publish(api, draftPath);

    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect((await api.json('GET', path)).body).toMatchObject({ phoneNumber: null });
    expect((await api.request('GET', draftPath)).status).toBe(200);
  });

  test('changes nothing where its last write fails', async () => {
    const { api, path, draftPath } = await openAgent();
    await save(api, draftPath, { greeting: 'Hi' });
    const sqlite = new Sqlite(api.store.file);
    sqlite.exec(`create trigger refuse before delete on agent_drafts
      begin select raise(abort, 'no room'); end`);

    const failed = await publish(api, draftPath);

    const [live, versions] = [(await api.json('GET', path)).body, await countOfVersions(api, path)];
    sqlite.exec('drop trigger refuse');
    sqlite.close();
    expect(failed.status).toBe(500);
    expect([live, versions]).toMatchObject([{ greeting: 'Hello' }, 1]);
    expect((await publish(api, draftPath)).body).toMatchObject({ greeting: 'Hi' });
  });

  test('answers as before to a repeated request, and publishes once', async () => {
    const { api, path, draftPath } = await openAgent();
    await save(api, draftPath, { greeting: 'Hi' });
    const headers = { 'X-Idempotency-Key': 'k1' };

    const first = await publish(api, draftPath, headers);
    await save(api, draftPath, { greeting: 'Hey' });
    const second = await publish(api, draftPath, headers);

    expect(second).toEqual(first);
    expect((await api.json('GET', path)).body).toMatchObject({ greeting: 'Hi' });
  });
});

test.each([
  ['another account', FOREIGN_KEY],
  ['the other environment', TEST_KEY],
])('a draft is 404 to %s', async (_case, key) => {
  const { api, draftPath } = await openAgent();
  await save(api, draftPath, { greeting: 'Hi' });

  const answers = await Promise.all([
    api.json('GET', draftPath, { key }),
    api.json('PUT', draftPath, { key, body: { greeting: 'Ha' } }),
    api.json('DELETE', draftPath, { key }),
    api.json('POST', `${draftPath}/publish`, { key }),
  ]);

  expect(answers.map(({ body }) => body.error.code)).toEqual(
    Array<string>(4).fill('AGENT_NOT_FOUND'),
  );
  expect((await api.json('GET', draftPath)).body).toMatchObject({ changes: { greeting: 'Hi' } });
});

test('a draft needs agents:write to be changed, and agents:read to be seen', async () => {
  const key = `svc_live_${'8'.repeat(32)}`;
  const { api, draftPath } = await openAgent();
  const scopes = ['agents:read'] as const;
  await addKey(api.store, key, { accountId: 'acct_main', environment: 'live', scopes });
  await save(api, draftPath, { greeting: 'Hi' });

  const answers = await Promise.all([
    api.request('GET', draftPath, { key }),
    api.request('PUT', draftPath, { key, body: { greeting: 'Ha' } }),
    api.request('DELETE', draftPath, { key }),
    api.request('POST', `${draftPath}/publish`, { key }),
  ]);

  expect(answers.map(({ status }) => status)).toEqual([200, 403, 403, 403]);
});

test('a viewer sees a draft; an editor changes it, and each change is in the audit log', async () => {
  const world = await openUsersWorld();
  const viewer = await (await world.signIn('viewer')).key();
  const editor = await (await world.signIn('editor')).key();
  const draftPath = '/api/agents/agent_1/draft';
  const ask = async (method: string, path: string, key: string, body?: object) =>
    (await world.api.request(method, path, { key, ...(body && { body }) })).status;

  const ofViewer = [
    await ask('GET', draftPath, viewer),
    await ask('PUT', draftPath, viewer, { greeting: 'Ha' }),
    await ask('DELETE', draftPath, viewer),
    await ask('POST', `${draftPath}/publish`, viewer),
  ];
  await ask('PUT', draftPath, editor, { greeting: 'A secret word' });
  const { body: draft } = await world.api.json('GET', draftPath, { key: editor });
  await ask('POST', `${draftPath}/publish`, editor);
  await ask('PUT', draftPath, editor, { greeting: 'Another word' });
  await ask('DELETE', draftPath, editor);

  expect(ofViewer).toEqual([200, 403, 403, 403]);
  expect(draft).toMatchObject({ by: 'dashboard' });
  const { items: entries } = await world.store.auditLog.page({
    ...{ actorId: 'usr_editor', resource: 'agent_1', limit: 10, offset: 0 },
  });
  expect(entries.map(({ action }) => action)).toEqual([
    'DELETE /api/agents/{agentId}/draft',
    'PUT /api/agents/{agentId}/draft',
    'POST /api/agents/{agentId}/draft/publish',
    'PUT /api/agents/{agentId}/draft',
  ]);
  expect(JSON.stringify(entries)).not.toContain('word');
});
