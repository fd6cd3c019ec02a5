import { describe, expect, test } from 'vitest';
import { buildCall } from '../support/build-call.ts';
import { LIVE_KEY, openTestApi, TEST_KEY, type TestApi } from '../support/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const NUMBER = '+390612345678';

async function createAgent(api: TestApi, fields: object = {}): Promise<string> {
  const { status, body } = await api.json('POST', '/api/agents', { body: { ...DRAFT, ...fields } });
  expect(status).toBe(201);
  return body.id;
}

describe('POST /api/agents', () => {
  test('answers 201 with exactly id, name, status and createdAt', async () => {
    const api = await openTestApi();

    const { status, body } = await api.json('POST', '/api/agents', { body: DRAFT });

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^agent_[0-9A-Za-z]{24}$/),
      name: 'Till',
      status: 'active',
      createdAt: '2026-11-20T12:00:00.000Z',
    });
  });

  test.each([
    ['no name', { ...DRAFT, name: undefined }, 'name'],
    ['an empty name', { ...DRAFT, name: '' }, 'name'],
    ['a name of 121 characters', { ...DRAFT, name: 'n'.repeat(121) }, 'name'],
    ['a greeting of 2,001 characters', { ...DRAFT, greeting: 'g'.repeat(2001) }, 'greeting'],
    [
      'a prompt of 20,001 characters',
      { ...DRAFT, systemPrompt: 's'.repeat(20_001) },
      'systemPrompt',
    ],
    ['a number that is no string', { ...DRAFT, phoneNumber: 390612345678 }, 'phoneNumber'],
    ['a number that is null', { ...DRAFT, phoneNumber: null }, 'phoneNumber'],
    ['an unknown tool', { ...DRAFT, tools: ['send_sms', 'fly'] }, 'tools.1'],
    ['a tool twice', { ...DRAFT, tools: ['send_sms', 'send_sms'] }, 'tools'],
    [
      'a call of 9 s',
      { ...DRAFT, settings: { maxDurationSeconds: 9 } },
      'settings.maxDurationSeconds',
    ],
    [
      'a call of 14,401 s',
      { ...DRAFT, settings: { maxDurationSeconds: 14_401 } },
      'settings.maxDurationSeconds',
    ],
    [
      'a silence of 1 s',
      { ...DRAFT, settings: { silenceTimeoutSeconds: 1 } },
      'settings.silenceTimeoutSeconds',
    ],
    [
      'a silence of 121 s',
      { ...DRAFT, settings: { silenceTimeoutSeconds: 121 } },
      'settings.silenceTimeoutSeconds',
    ],
    [
      'half a second',
      { ...DRAFT, settings: { maxDurationSeconds: 60.5 } },
      'settings.maxDurationSeconds',
    ],
    ['a language that is none', { ...DRAFT, language: 'en_US' }, 'language'],
    ['a voice that is an option', { ...DRAFT, voice: '--help' }, 'voice'],
    ['an unknown field', { ...DRAFT, nickname: 'T' }, 'nickname'],
    ['an unknown setting', { ...DRAFT, settings: { speed: 2 } }, 'settings.speed'],
    ['a status', { ...DRAFT, status: 'paused' }, 'status'],
    ['an id', { ...DRAFT, id: 'agent_mine' }, 'id'],
    ['another account', { ...DRAFT, accountId: 'acct_foreign' }, 'accountId'],
    ['a list', [DRAFT], ''],
    ['null', null, ''],
  ])('answers 400 to %s, naming the field', async (_case, body, path) => {
    const api = await openTestApi();

    const answer = await api.json('POST', '/api/agents', { body });

    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toContain(
      path,
    );
  });

  test('answers 400 to a __proto__ in the body, and makes nothing', async () => {
    const api = await openTestApi();
    const text = JSON.stringify(DRAFT).replace('{', '{"__proto__":{"status":"paused"},');

    const { status, body } = await api.json('POST', '/api/agents', { text });

    expect([status, body.error.details[0].path]).toEqual([400, '__proto__']);
  });

  test('names every wrong field at once', async () => {
    const api = await openTestApi();

    const { body } = await api.json('POST', '/api/agents', { body: { name: 5, extra: 1 } });

    const paths = body.error.details.map((detail: { path: string }) => detail.path);
    expect(paths.sort()).toEqual(['extra', 'greeting', 'name', 'systemPrompt']);
  });

  test.each([
    '0612345678',
    '+39061',
    '+9991234567',
    '',
  ])('answers 422 to the number "%s"', async (phoneNumber) => {
    const api = await openTestApi();

    const answer = await api.json('POST', '/api/agents', { body: { ...DRAFT, phoneNumber } });

    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'UNPROCESSABLE' } } });
  });

  test('answers 409 to a number that another agent of the environment holds', async () => {
    const api = await openTestApi();
    await createAgent(api, { phoneNumber: NUMBER });
    const body = { ...DRAFT, phoneNumber: NUMBER };

    const again = await api.json('POST', '/api/agents', { body });
    const sandbox = await api.json('POST', '/api/agents', { body, key: TEST_KEY });

    expect(again).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect(sandbox.status).toBe(201);
  });
});

describe('GET /api/agents', () => {
  test('answers with the envelope and exactly the fields of the list, newest first', async () => {
    const api = await openTestApi();
    const first = await createAgent(api, { phoneNumber: NUMBER });
    api.store.clock.advance(1000);
    const second = await createAgent(api);
    const startedAt = api.store.clock.now();
    const call = { accountId: 'acct_main', agentId: first, startedAt, durationSeconds: 90 };
    api.store.calls.insert(buildCall({ ...call, status: 'completed' }), []);

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
    const id = await createAgent(api, { tools: ['end_call'], settings: { transferTargets } });

    const { status, body } = await api.json('GET', `/api/agents/${id}`);

    expect(status).toBe(200);
    expect(body).toEqual({
      ...DRAFT,
      id,
      voice: 'en-US-JennyNeural',
      language: 'en-US',
      phoneNumber: null,
      tools: ['end_call'],
      settings: {
        maxDurationSeconds: 600,
        silenceTimeoutSeconds: 10,
        interruptible: true,
        transferTargets,
      },
      status: 'active',
      totalCallsToday: 0,
      totalMinutesToday: 0,
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

    const patch = { status: 'paused', settings: { interruptible: false } };
    const { status, body } = await api.json('PATCH', `/api/agents/${id}`, { body: patch });

    const updatedAt = '2026-11-20T12:00:05.000Z';
    expect(status).toBe(200);
    expect(body).toEqual({ id, name: 'Till', status: 'paused', updatedAt });
    expect((await api.json('GET', `/api/agents/${id}`)).body).toEqual({
      ...before,
      status: 'paused',
      updatedAt,
      settings: { ...before.settings, interruptible: false },
    });
  });

  test.each([
    ['an empty body', {}, 400],
    ['an unknown field', { nickname: 'T' }, 400],
    ['a field of the wrong type', { name: 7 }, 400],
    ['createdAt', { createdAt: '2020-01-01T00:00:00.000Z' }, 400],
    ['the status it has', { status: 'active' }, 409],
    ['a status that does not exist', { status: 'deleted' }, 400],
    ['an impossible number', { phoneNumber: '+39061' }, 422],
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
    api.store.calls.insert(buildCall(call), []);

    const { status, body } = await api.json('DELETE', `/api/agents/${agentId}`, { key: LIVE_KEY });

    expect([status, body.error.code]).toEqual([409, 'CONFLICT']);
  });
});
