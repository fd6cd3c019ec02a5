import { describe, expect, test } from 'vitest';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const NUMBER = '+390612345678';

async function createAgent(api: TestApi, fields: object = {}): Promise<string> {
  const { status, body } = await api.json('POST', '/api/agents', { body: { ...DRAFT, ...fields } });
  expect(status).toBe(201);
  return body.id;
}

describe('GET /api/agents', () => {
  test('answers with the envelope and exactly the fields of the list, newest first', async () => {
    const api = await openTestApi();
    const first = await createAgent(api, { phoneNumber: NUMBER });
    api.store.clock.advance(1000);
    const second = await createAgent(api);
    const startedAt = api.store.clock.now();
    const call = { accountId: 'acct_main', agentId: first, startedAt, durationSeconds: 90 };
    await api.store.calls.insert(buildCall({ ...call, status: 'completed' }), []);

    const { status, body } = await api.json('GET', '/api/agents');

    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 2, limit: 20, offset: 0 });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([second, first]);
    expect(body.data[1]).toEqual({
      id: first,
      name: 'Till',
      status: 'active',
      voice: 'en-US-JennyNeural',
      language: 'en-US',
      phoneNumber: NUMBER,
      totalCallsToday: 1,
      totalMinutesToday: 1.5,
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    });
  });

  test('filters by status and pages', async () => {
    const api = await openTestApi();
    const ids = [];
    for (let index = 0; index < 5; index++) ids.push(await createAgent(api));
    await api.request('PATCH', `/api/agents/${ids[0]}`, { body: { status: 'paused' } });
    const total = async (query: string) => (await api.json('GET', `/api/agents?${query}`)).body;

    expect(await total('status=paused')).toMatchObject({ total: 1, data: [{ id: ids[0] }] });
    expect(await total('status=active')).toMatchObject({ total: 4 });
    expect(await total('status=all&limit=2&offset=4')).toMatchObject({
      total: 5,
      limit: 2,
      offset: 4,
      data: [{}],
    });
  });

  test.each([
    'limit=101',
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=ten',
    'limit=1e1',
    'limit=',
    'limit=5&limit=6',
    'offset=-1',
    'offset=99999999999999999999',
    'status=deleted',
    'page=2',
  ])('answers 400 to ?%s', async (query) => {
    const api = await openTestApi();

    expect((await api.json('GET', `/api/agents?${query}`)).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      status: 400,
    });
  });
});

describe('GET /api/agents/{agentId}', () => {
  test('answers with every field', async () => {
    const api = await openTestApi();
    const transferTargets = [{ label: 'sales', number: NUMBER }];
    const pronunciations = [{ written: 'Nguyen', spoken: 'nwin' }];
    const settings = { transferTargets, pronunciations };
    const id = await createAgent(api, { tools: ['end_call'], settings });

    const { status, body } = await api.json('GET', `/api/agents/${id}`);

    expect(status).toBe(200);
    expect(body).toEqual({
      ...DRAFT,
      id,
      voice: 'en-US-JennyNeural',
      language: 'en-US',
      phoneNumber: null,
      tools: ['end_call'],
      responsiveness: 'balanced',
      model: null,
      smsGateway: null,
      calendar: null,
      extract: null,
      successCriteria: null,
      settings: {
        maxDurationSeconds: 600,
        silenceTimeoutSeconds: 10,
        interruptible: true,
        transferTargets,
        afterTransfer: 'end',
        transferAcceptance: true,
        pronunciations,
        voicemail: { action: 'continue', message: null },
      },
      status: 'active',
      totalCallsToday: 0,
      totalMinutesToday: 0,
      draftAt: null,
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    });
  });
});

describe('PATCH /api/agents/{agentId}', () => {
  test('answers 200 with exactly id, name, status and updatedAt, and changes nothing else', async () => {
    const api = await openTestApi();
    const id = await createAgent(api, { settings: { maxDurationSeconds: 60 } });
    const before = (await api.json('GET', `/api/agents/${id}`)).body;
    api.store.clock.advance(5000);

    const patch = { status: 'paused', responsiveness: 'patient' };
    const settings = { interruptible: false };
    const { status, body } = await api.json('PATCH', `/api/agents/${id}`, {
      body: { ...patch, settings },
    });

    const updatedAt = '2026-11-20T12:00:05.000Z';
    expect(status).toBe(200);
    expect(body).toEqual({ id, name: 'Till', status: 'paused', updatedAt });
    expect((await api.json('GET', `/api/agents/${id}`)).body).toEqual({
      ...before,
      ...patch,
      updatedAt,
      settings: { ...before.settings, ...settings },
    });
  });

  test.each([
    ['an empty body', {}, 400],
    ['an unknown field', { nickname: 'T' }, 400],
    ['a field of the wrong type', { name: 7 }, 400],
    ['createdAt', { createdAt: '2020-01-01T00:00:00.000Z' }, 400],
    ['a responsiveness that does not exist', { responsiveness: 'quick' }, 400],
    ['a responsiveness among the settings', { settings: { responsiveness: 'fast' } }, 400],
    ['the status it has', { status: 'active' }, 409],
    ['a status that does not exist', { status: 'deleted' }, 400],
    ['an impossible number', { phoneNumber: '+39061' }, 422],
    ['a number that is no string', { phoneNumber: 390612345678 }, 400],
    ['a number that is null', { phoneNumber: null }, 200],
    ['an unknown voice', { voice: 'en-US-Jeny' }, 400],
    ['an unknown language', { language: 'xx' }, 400],
    ['a blank prompt', { systemPrompt: ' ' }, 400],
    ['an empty number', { phoneNumber: '' }, 422],
  ])('answers to %s', async (_case, body, expected) => {
    const api = await openTestApi();
    const id = await createAgent(api);

    const { status } = await api.json('PATCH', `/api/agents/${id}`, { body });

    expect(status).toBe(expected);
  });

  test('answers 409 to the number of another agent, and keeps the agent as it was', async () => {
    const api = await openTestApi();
    await createAgent(api, { phoneNumber: NUMBER });
    const id = await createAgent(api);

    const body = { phoneNumber: NUMBER, name: 'Taker' };
    const { status } = await api.json('PATCH', `/api/agents/${id}`, { body });

    expect(status).toBe(409);
    expect((await api.json('GET', `/api/agents/${id}`)).body.name).toBe('Till');
  });
});

describe('PATCH /api/agents/{agentId} with what the agent has', () => {
  test('changes nothing for a null number where there is none', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);
    const before = (await api.json('GET', `/api/agents/${id}`)).body;
    api.store.clock.advance(5000);

    const { status } = await api.json('PATCH', `/api/agents/${id}`, {
      body: { phoneNumber: null },
    });

    expect(status).toBe(200);
    expect((await api.json('GET', `/api/agents/${id}`)).body).toEqual(before);
  });

  test('answers 400 to a null number where there is one, and keeps it', async () => {
    const api = await openTestApi();
    const id = await createAgent(api, { phoneNumber: NUMBER });

    const { status, body } = await api.json('PATCH', `/api/agents/${id}`, {
      body: { phoneNumber: null },
    });

    expect([status, body.error.details[0]?.path]).toEqual([400, 'phoneNumber']);
    expect((await api.json('GET', `/api/agents/${id}`)).body).toMatchObject({
      phoneNumber: NUMBER,
    });
  });

  test('lets a voice and language stay that the server does not speak', async () => {
    const api = await openTestApi();
    const old = { voice: 'en-US-GoneNeural', language: 'xx-XX' };
    await api.store.agents.insert(buildAgent({ id: 'agent_old', accountId: 'acct_main', ...old }));

    const body = { ...old, name: 'Other' };
    const { status } = await api.json('PATCH', '/api/agents/agent_old', { body });

    expect(status).toBe(200);
  });
});

describe('DELETE /api/agents/{agentId}', () => {
  test('answers 204 without a body, and then 404', async () => {
    const api = await openTestApi();
    const id = await createAgent(api);

    const response = await api.request('DELETE', `/api/agents/${id}`);

    expect([response.status, await response.text()]).toEqual([204, '']);
    expect((await api.request('DELETE', `/api/agents/${id}`)).status).toBe(404);
  });

  test('answers 409 while the agent has a live call', async () => {
    const api = await openTestApi();
    const agentId = await createAgent(api);
    const call = { accountId: 'acct_main', agentId, status: 'in_progress' } as const;
    await api.store.calls.insert(buildCall(call), []);

    const { status, body } = await api.json('DELETE', `/api/agents/${agentId}`);

    expect([status, body.error.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('DELETE /api/agents/{agentId}/phone-number', () => {
  test('takes the number away, so that another agent can have it, and may come twice', async () => {
    const api = await openTestApi();
    const id = await createAgent(api, { phoneNumber: NUMBER });

    const first = await api.request('DELETE', `/api/agents/${id}/phone-number`);
    const second = await api.request('DELETE', `/api/agents/${id}/phone-number`);

    expect([first.status, second.status]).toEqual([204, 204]);
    const { body } = await api.json('GET', `/api/agents/${id}`);
    expect(body).toMatchObject({ phoneNumber: null });
    await createAgent(api, { phoneNumber: NUMBER });
  });
});
