import { describe, expect, test } from 'vitest';
import {
  addKey,
  FOREIGN_KEY,
  openTestApi,
  TEST_KEY,
  type TestApi,
} from '../support/api/test-api.ts';
import { openSignedIn } from '../support/dashboard/dashboard-world.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const NUMBER = '+390612345678';

async function createAgent(api: TestApi, fields: object = {}): Promise<string> {
  return (await api.json('POST', '/api/agents', { body: { ...DRAFT, ...fields } })).body.id;
}

async function change(api: TestApi, id: string, body: object): Promise<void> {
  api.store.clock.advance(1000);
  expect((await api.request('PATCH', `/api/agents/${id}`, { body })).status).toBe(200);
}

function restore(api: TestApi, id: string, version: number | string, headers = {}) {
  return api.json('POST', `/api/agents/${id}/versions/${version}/restore`, { headers });
}

async function versionsOf(api: TestApi, id: string) {
  const { body } = await api.json('GET', `/api/agents/${id}/versions`);
  return body.data as unknown as { version: number; changed: string[]; agent: object }[];
}

describe('GET /api/agents/{agentId}/versions', () => {
  test('answers with the agent as it was made and after each change, newest first', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);
    await change(api, id, { greeting: 'Hi', settings: { silenceTimeoutSeconds: 20 } });

    const { status, body } = await api.json('GET', `/api/agents/${id}/versions`);

    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 2, limit: 20, offset: 0 });
    expect(body.data[0]).toEqual({
      version: 2,
      at: '2026-11-20T12:00:01.000Z',
      by: 'api',
      changed: ['greeting', 'settings.silenceTimeoutSeconds'],
      agent: {
        ...DRAFT,
        greeting: 'Hi',
        voice: 'en-US-JennyNeural',
        language: 'en-US',
        phoneNumber: null,
        tools: [],
        responsiveness: 'balanced',
        model: null,
        smsGateway: null,
        calendar: null,
        extract: null,
        successCriteria: null,
        settings: {
          maxDurationSeconds: 600,
          silenceTimeoutSeconds: 20,
          interruptible: true,
          transferTargets: [],
          afterTransfer: 'end',
          transferAcceptance: true,
          pronunciations: [],
          voicemail: { action: 'continue', message: null },
        },
        status: 'active',
      },
    });
    expect(body.data[1]).toMatchObject({ version: 1, changed: [], agent: { greeting: 'Hello' } });
  });

  test('says which changes a person made at the dashboard', async () => {
    const { api, browser } = await openSignedIn();
    const key = await browser.key();

    const id = (await api.json('POST', '/api/agents', { body: DRAFT, key })).body.id;

    expect(await versionsOf(api, id)).toMatchObject([{ version: 1, by: 'dashboard' }]);
  });

  test.each([
    ['another account', FOREIGN_KEY],
    ['the other environment', TEST_KEY],
  ])('answers 404 to %s', async (_case, key) => {
    const api = await openTestApi();
    const id = await createAgent(api);

    const answer = await api.json('GET', `/api/agents/${id}/versions`, { key });

    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'AGENT_NOT_FOUND' } } });
  });

  test('pages, and refuses a page that is none', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);
    await change(api, id, { name: 'B' });
    await change(api, id, { name: 'C' });

    const page = await api.json('GET', `/api/agents/${id}/versions?limit=1&offset=1`);
    const bad = await api.json('GET', `/api/agents/${id}/versions?limit=101`);

    expect(page.body).toMatchObject({ total: 3, data: [{ version: 2 }] });
    expect(bad.status).toBe(400);
  });
});

describe('POST /api/agents/{agentId}/versions/{version}/restore', () => {
  test('makes the agent what it was, and keeps that as a new version', async () => {
    const api = await openTestApi();
    const id = await createAgent(api, { tools: ['end_call'] });
    await change(api, id, { greeting: 'Hi', tools: [], settings: { interruptible: false } });

    const { status, body } = await restore(api, id, 1);

    expect(status).toBe(200);
    expect(body).toEqual((await api.json('GET', `/api/agents/${id}`)).body);
    expect(body).toMatchObject({ greeting: 'Hello', settings: { interruptible: true } });
    expect(await versionsOf(api, id)).toMatchObject([
      { version: 3, changed: ['greeting', 'tools', 'settings.interruptible'] },
      { version: 2 },
      { version: 1 },
    ]);
  });

  test('changes updatedAt, also within the same millisecond', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);
    await change(api, id, { name: 'B' });
    const before = await api.json('GET', `/api/agents/${id}`);

    const after = await restore(api, id, 1);

    const times = [before, after].map(({ body }) => body as unknown as { updatedAt: string });
    expect(times[1]?.updatedAt).not.toBe(times[0]?.updatedAt);
  });

  test('leaves a paused agent paused', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);
    await change(api, id, { greeting: 'Hi', status: 'paused' });

    const { body } = await restore(api, id, 1);

    expect(body).toMatchObject({ greeting: 'Hello', status: 'paused' });
  });

  test('answers 409 when another agent has got the number since, and changes nothing', async () => {
    const api = await openTestApi();
    const id = await createAgent(api, { phoneNumber: NUMBER });
    await change(api, id, { phoneNumber: '+390698765432', greeting: 'Hi' });
    await createAgent(api, { phoneNumber: NUMBER });

    const answer = await restore(api, id, 1);

    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect((await api.json('GET', `/api/agents/${id}`)).body).toMatchObject({ greeting: 'Hi' });
    expect(await versionsOf(api, id)).toHaveLength(2);
  });

  test('gives the number back where the agent had none', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);
    await change(api, id, { phoneNumber: NUMBER });

    const { body } = await restore(api, id, 1);

    expect(body).toMatchObject({ phoneNumber: null });
    const other = await api.json('POST', '/api/agents', {
      body: { ...DRAFT, phoneNumber: NUMBER },
    });
    expect(other.status).toBe(201);
  });

  test.each([
    '0',
    '-1',
    '3',
    '01',
    '1.0',
    '1e0',
    'one',
    '9'.repeat(30),
    '%00',
  ])('answers 404 to the version %s', async (version) => {
    const api = await openTestApi();
    const id = await createAgent(api);
    await change(api, id, { name: 'B' });

    const answer = await restore(api, id, version);

    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  });

  test('answers as before to a repeated request, and goes back once', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);
    await change(api, id, { name: 'B' });
    const headers = { 'X-Idempotency-Key': 'k1' };

    const first = await restore(api, id, 1, headers);
    await change(api, id, { name: 'C' });
    const second = await restore(api, id, 1, headers);

    expect(second).toEqual(first);
    expect(await versionsOf(api, id)).toHaveLength(4);
  });

  test('needs agents:write, and the list agents:read', async () => {
    const key = `svc_live_${'8'.repeat(32)}`;
    const api = await openTestApi();
    await api.store.agents.insert(buildAgent({ accountId: 'acct_main' }));
    await addKey(api.store, key, {
      accountId: 'acct_main',
      environment: 'live',
      scopes: ['agents:read'],
    });

    const list = await api.request('GET', '/api/agents/agent_1/versions', { key });
    const back = await api.request('POST', '/api/agents/agent_1/versions/1/restore', { key });

    expect([list.status, back.status]).toEqual([200, 403]);
  });
});
