import { describe, expect, test } from 'vitest';
import { addKey, LIVE_KEY, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';

const ADMIN_KEY = `svc_live_${'5'.repeat(32)}`;
const TEST_ADMIN_KEY = `svc_test_${'6'.repeat(32)}`;

const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/);

const HOURS = { days: ['mon', 'fri'], from: '09:00', until: '24:00', timeZone: 'Europe/Rome' };

const SECRET_PATH = '/api/account/signing-secret';

async function openWithAdmins(): Promise<TestApi> {
  const api = await openTestApi();
  const scopes = ['admin'] as const;
  await addKey(api.store, ADMIN_KEY, { accountId: 'acct_main', environment: 'live', scopes });
  await addKey(api.store, TEST_ADMIN_KEY, { accountId: 'acct_main', environment: 'test', scopes });
  return api;
}

/** A call that is over, begun at an instant. */
async function addCall(
  api: TestApi,
  id: string,
  startedAt: string,
  durationSeconds: number,
): Promise<void> {
  const at = new Date(startedAt);
  const fields = { id, accountId: 'acct_main', status: 'completed', durationSeconds } as const;
  const times = { createdAt: at, startedAt: at, answeredAt: at, endedAt: at };
  await api.store.calls.insert(buildCall({ ...fields, ...times }), []);
}

describe('GET /api/account', () => {
  test('answers with exactly its fields, the minutes of this month in UTC added up', async () => {
    const api = await openWithAdmins();
    await api.store.agents.insert(buildAgent({ accountId: 'acct_main' }));
    await addCall(api, 'call_1', '2026-10-31T23:59:59.999Z', 6000);
    await addCall(api, 'call_2', '2026-11-01T00:00:00.000Z', 61);
    await addCall(api, 'call_3', '2026-11-20T11:00:00.000Z', 60);

    const { status, body } = await api.json('GET', '/api/account');

    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'acct_main',
      name: 'acct_main',
      plan: 'enterprise',
      environment: 'live',
      minutesIncluded: 1000,
      minutesUsed: 2,
      minutesRemaining: 998,
      period: { start: '2026-11-01T00:00:00.000Z', end: '2026-11-30T23:59:59.999Z' },
      transferTargets: [],
      allowedCountries: null,
      callingHours: null,
      retention: { recordingsDays: null, transcriptsDays: null, callsDays: null },
      createdAt: '1970-01-01T00:00:00.000Z',
    });
  });

  test('never has less than no minutes left, and counts the sandbox apart', async () => {
    const api = await openWithAdmins();
    await addCall(api, 'call_1', '2026-11-20T11:00:00.000Z', 60_001);

    const live = await api.json('GET', '/api/account');
    const sandbox = await api.json('GET', '/api/account', { key: TEST_KEY });

    expect(live.body).toMatchObject({ minutesUsed: 1000, minutesRemaining: 0 });
    expect(sandbox.body).toMatchObject({ environment: 'test', minutesUsed: 0 });
  });

  test.each([
    ['2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z'],
    ['2028-02-29T00:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-02-29T23:59:59.999Z'],
  ])('tells the month that %s lies in', async (now, start, end) => {
    const api = await openWithAdmins();
    api.store.clock.advance(Date.parse(now) - api.store.clock.nowMs());

    const { body } = await api.json('GET', '/api/account');

    expect(body).toMatchObject({ period: { start, end } });
  });
});

describe('PATCH /api/account', () => {
  const TARGETS = [{ label: 'sales', number: '+390612345678' }];

  test('changes what the body has, and nothing else, for good', async () => {
    const api = await openWithAdmins();
    const before = (await api.json('GET', '/api/account')).body;
    const patch = (body: object) => api.json('PATCH', '/api/account', { key: ADMIN_KEY, body });

    const first = await patch({ transferTargets: TARGETS, allowedCountries: ['IT', 'FR'] });
    const second = await patch({ name: 'Acme', allowedCountries: null });

    const changed = { ...before, transferTargets: TARGETS, allowedCountries: ['IT', 'FR'] };
    expect(first).toEqual({ status: 200, body: changed });
    expect(second.body).toEqual({ ...changed, name: 'Acme', allowedCountries: null });
    expect((await api.json('GET', '/api/account')).body).toEqual(second.body);
  });

  test('keeps calling hours, and drops them', async () => {
    const api = await openWithAdmins();
    const patch = async (callingHours: object | null) =>
      (await api.json('PATCH', '/api/account', { key: ADMIN_KEY, body: { callingHours } })).body;

    const set = await patch(HOURS);
    const read = (await api.json('GET', '/api/account')).body;
    const dropped = await patch(null);

    expect([set, read, dropped]).toMatchObject([
      { callingHours: HOURS },
      { callingHours: HOURS },
      { callingHours: null },
    ]);
  });

  test('changes how long calls are kept, field by field', async () => {
    const api = await openWithAdmins();
    const patch = async (retention: object) =>
      (await api.json('PATCH', '/api/account', { key: ADMIN_KEY, body: { retention } })).body;

    const first = await patch({ recordingsDays: 30, callsDays: 365 });
    const second = await patch({ recordingsDays: null, transcriptsDays: 90 });

    const kept = { recordingsDays: 30, transcriptsDays: null, callsDays: 365 };
    expect(first).toMatchObject({ retention: kept });
    const changed = { ...kept, recordingsDays: null, transcriptsDays: 90 };
    expect(second).toMatchObject({ retention: changed });
    expect((await api.json('GET', '/api/account')).body).toEqual(second);
  });

  test.each([
    ['an empty body', {}, 400, ''],
    ['an empty retention', { retention: {} }, 400, ''],
    ['no days', { retention: { callsDays: 0 } }, 400, 'retention.callsDays'],
    ['half a day', { retention: { recordingsDays: 0.5 } }, 400, 'retention.recordingsDays'],
    ['more than a century', { retention: { callsDays: 36_501 } }, 400, 'retention.callsDays'],
    ['an unknown period', { retention: { eventsDays: 3 } }, 400, 'retention.eventsDays'],
    ['an empty name', { name: '' }, 400, 'name'],
    ['a plan', { plan: 'enterprise' }, 400, 'plan'],
    ['minutes', { minutesIncluded: 9999 }, 400, 'minutesIncluded'],
    [
      'hours that end as they begin',
      { callingHours: { ...HOURS, until: '09:00' } },
      400,
      'callingHours.until',
    ],
    ['hours on no day', { callingHours: { ...HOURS, days: [] } }, 400, 'callingHours.days'],
    ['a time that is none', { callingHours: { ...HOURS, from: '9:00' } }, 400, 'callingHours.from'],
    [
      'a time zone that is none',
      { callingHours: { ...HOURS, timeZone: 'Rome' } },
      400,
      'callingHours.timeZone',
    ],
    [
      'hours without a time zone',
      { callingHours: { ...HOURS, timeZone: undefined } },
      400,
      'callingHours.timeZone',
    ],
    ['a country that is none', { allowedCountries: ['IT', 'UK'] }, 400, 'allowedCountries.1'],
    ['a country in small letters', { allowedCountries: ['it'] }, 400, 'allowedCountries.0'],
    ['a country twice', { allowedCountries: ['IT', 'IT'] }, 400, 'allowedCountries'],
    ['a label twice', { transferTargets: [...TARGETS, ...TARGETS] }, 400, 'transferTargets'],
    ['101 targets', { transferTargets: Array(101).fill(TARGETS[0]) }, 400, 'transferTargets'],
    ['an impossible number', { transferTargets: [{ label: 'a', number: '+39061' }] }, 422, ''],
  ])('refuses %s', async (_case, body, expected, path) => {
    const api = await openWithAdmins();

    const answer = await api.json('PATCH', '/api/account', { key: ADMIN_KEY, body });

    expect(answer.status).toBe(expected);
    if (expected === 400) expect(answer.body.error.details.map((one) => one.path)).toContain(path);
  });

  test.each([
    ['a key without admin', LIVE_KEY],
    ['a test key', TEST_ADMIN_KEY],
  ])('answers 403 to %s', async (_case, key) => {
    const api = await openWithAdmins();

    const { status } = await api.json('PATCH', '/api/account', { key, body: { name: 'Acme' } });

    expect(status).toBe(403);
    expect((await api.json('GET', '/api/account')).body.name).toBe('acct_main');
  });
});

describe('The signing secret', () => {
  test('is shown to an admin key, one an environment', async () => {
    const api = await openWithAdmins();

    const live = await api.json('GET', SECRET_PATH, { key: ADMIN_KEY });
    const sandbox = await api.json('GET', SECRET_PATH, { key: TEST_ADMIN_KEY });

    const none = { preparedSecret: null, previousSecret: null, previousValidUntil: null };
    expect(live).toEqual({ status: 200, body: { signingSecret: SECRET, ...none } });
    expect(sandbox.body).toEqual({ signingSecret: SECRET, ...none });
    expect(sandbox.body).not.toEqual(live.body);
    expect((await api.json('GET', SECRET_PATH)).status).toBe(403);
  });

  const open = async () => {
    const api = await openWithAdmins();
    const key = ADMIN_KEY;
    return {
      api,
      read: async () => (await api.json('GET', SECRET_PATH, { key })).body,
      prepare: () => api.json('POST', SECRET_PATH, { key }),
      activate: () => api.json('POST', `${SECRET_PATH}/activate`, { key }),
      drop: (which: string) => api.request('DELETE', `${SECRET_PATH}/${which}`, { key }),
    };
  };

  test('is prepared, then activated; the one before can be read for 24 hours', async () => {
    const { api, read, prepare, activate } = await open();
    const before = await read();

    const prepared = await prepare();
    api.store.clock.advance(3_600_000);
    const activated = await activate();
    api.store.clock.advance(86_400_000 - 1);
    const late = await read();
    api.store.clock.advance(1);
    const tooLate = await read();

    const { preparedSecret } = prepared.body;
    const without = { preparedSecret: null, previousSecret: null, previousValidUntil: null };
    expect(prepared).toEqual({ status: 200, body: { ...before, preparedSecret: SECRET } });
    expect(preparedSecret).not.toBe(before.signingSecret);
    expect(activated).toEqual({
      status: 200,
      body: {
        signingSecret: preparedSecret,
        preparedSecret: null,
        previousSecret: before.signingSecret,
        previousValidUntil: '2026-11-21T13:00:00.000Z',
      },
    });
    expect(late).toEqual(activated.body);
    expect(tooLate).toEqual({ signingSecret: preparedSecret, ...without });
  });

  test('is prepared once, and activated only when prepared', async () => {
    const { read, prepare, activate } = await open();

    const early = await activate();
    const first = await prepare();
    const second = await prepare();

    expect([early.status, early.body.error.code]).toEqual([409, 'CONFLICT']);
    expect([second.status, second.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(await read()).toEqual(first.body);
  });

  test('is dropped before its time: the previous one and the prepared one, each alone', async () => {
    const { read, prepare, activate, drop } = await open();
    await prepare();
    const { signingSecret } = (await activate()).body;
    const { preparedSecret } = (await prepare()).body;

    const previous = await drop('previous');
    const afterPrevious = await read();
    const prepared = await drop('prepared');
    const again = [await drop('previous'), await drop('prepared')];

    const none = { previousSecret: null, previousValidUntil: null };
    expect([previous, prepared, ...again].map(({ status }) => status)).toEqual(Array(4).fill(204));
    expect(afterPrevious).toEqual({ signingSecret, preparedSecret, ...none });
    expect(await read()).toEqual({ signingSecret, preparedSecret: null, ...none });
  });

  test('is prepared once for a repeated request, and its replay shows no secret', async () => {
    const { api, read } = await open();
    const options = { key: ADMIN_KEY, headers: { 'X-Idempotency-Key': 'k1' } };
    const prepare = () => api.json('POST', SECRET_PATH, options);

    const first = await prepare();
    const second = await prepare();

    const hidden = { signingSecret: null, preparedSecret: null, previousSecret: null };
    expect(second).toEqual({ status: 200, body: { ...first.body, ...hidden } });
    expect(await read()).toEqual(first.body);
  });

  test('changes in one environment only, and by an admin key only', async () => {
    const { api, prepare, activate, drop } = await open();
    const before = await api.json('GET', SECRET_PATH, { key: TEST_ADMIN_KEY });
    const statuses = await Promise.all([
      api.json('POST', SECRET_PATH),
      api.json('POST', `${SECRET_PATH}/activate`),
      api.request('DELETE', `${SECRET_PATH}/previous`),
      api.request('DELETE', `${SECRET_PATH}/prepared`),
    ]);

    await prepare();
    await activate();
    await prepare();
    await drop('prepared');

    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(await api.json('GET', SECRET_PATH, { key: TEST_ADMIN_KEY })).toEqual(before);
  });
});

test('POST without a body, but with one that is no JSON, answers 400 to an idempotency key', async () => {
  const api = await openWithAdmins();

  const { status, body } = await api.json('POST', SECRET_PATH, {
    key: ADMIN_KEY,
    headers: { 'X-Idempotency-Key': 'k1' },
    text: '{"a":',
  });

  expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
});
