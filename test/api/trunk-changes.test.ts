import { describe, expect, test } from 'vitest';
import { addKey, FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';

const ADMIN_KEY = `svc_live_${'7'.repeat(32)}`;

const FOREIGN_ADMIN_KEY = `svc_live_${'8'.repeat(32)}`;

const ADMIN_TEST_KEY = `svc_test_${'6'.repeat(32)}`;

const FOREIGN_ADMIN_TEST_KEY = `svc_test_${'5'.repeat(32)}`;

const ACME = {
  name: 'acme',
  proxy: 'sip.example.com:5070',
  transport: 'tcp',
  username: 'joe',
  password: 'the-password',
  register: true,
  numbers: ['+390612345678'],
  allowedSources: ['203.0.113.0/24'],
  codecs: ['PCMA'],
  srtp: 'off',
  maxCalls: 4,
  callsPerSecond: 2,
};

async function openWorld(parts: Parameters<typeof openTestApi>[0] = {}) {
  const api = await openTestApi(parts);
  const scopes = ['admin'] as const;
  const [main, foreign] = [
    { accountId: 'acct_main', scopes },
    { accountId: 'acct_foreign', scopes },
  ];
  await addKey(api.store, ADMIN_KEY, { ...main, environment: 'live' });
  await addKey(api.store, ADMIN_TEST_KEY, { ...main, environment: 'test' });
  await addKey(api.store, FOREIGN_ADMIN_KEY, { ...foreign, environment: 'live' });
  await addKey(api.store, FOREIGN_ADMIN_TEST_KEY, { ...foreign, environment: 'test' });
  const ask = async (method: string, path: string, body?: unknown, key = ADMIN_KEY) => {
    const response = await api.request(method, path, {
      key,
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text === '' ? {} : JSON.parse(text) };
  };
  return { api, ask };
}

describe('POST /api/trunks', () => {
  test('sets a trunk up, and shows all of it but the password', async () => {
    const { ask } = await openWorld();

    const created = await ask('POST', '/api/trunks', ACME);
    const shown = await ask('GET', '/api/trunks/acme');
    const listed = await ask('GET', '/api/trunks');

    const { password: _, ...settings } = ACME;
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ ...settings, source: 'api', hasPassword: true });
    expect(shown.body).toMatchObject({ ...settings, source: 'api', domain: null, account: null });
    expect(listed.body.data).toEqual([shown.body]);
    expect(created.text + shown.text + listed.text).not.toContain('the-password');
  });

  test('answers with the state that the trunk is in, also when it is repeated', async () => {
    const { api, ask } = await openWorld();
    const options = { key: ADMIN_KEY, body: ACME, headers: { 'X-Idempotency-Key': 'k1' } };

    const created = await api.json('POST', '/api/trunks', options);
    const shown = await ask('GET', '/api/trunks/acme');
    const repeated = await api.json('POST', '/api/trunks', options);

    expect(created.body).toEqual(shown.body);
    expect(created.body).toMatchObject({
      state: 'unregistered',
      detail: 'telephony has not been started',
    });
    expect(repeated).toEqual(created);
  });

  test('names every wrong field, as the trunk file does', async () => {
    const { ask } = await openWorld();

    const { status, body } = await ask('POST', '/api/trunks', {
      ...ACME,
      proxy: 'sip:example.com',
      numbers: ['0612345678'],
      colour: 'red',
    });

    expect(status).toBe(400);
    expect(body.error.details).toEqual([
      { path: 'proxy', message: expect.stringMatching(/^expected host, host:port, /) },
      { path: 'numbers.0', message: expect.stringMatching(/^expected E\.164/) },
      { path: 'colour', message: 'unknown field' },
    ]);
  });

  test.each([
    ['a name that is taken', { name: 'taken' }, 409],
    ['an account that is none', { account: 'acct_none' }, 422],
    ['a password alone', { username: null, register: false }, 400],
  ])('refuses %s', async (_case, fields, expected) => {
    const { ask } = await openWorld();
    await ask('POST', '/api/trunks', { name: 'taken', proxy: 'sip.example.com' });

    const { status } = await ask('POST', '/api/trunks', { ...ACME, ...fields });

    expect(status).toBe(expected);
  });

  test.each([
    ['of another account', FOREIGN_ADMIN_KEY],
    ['of the sandbox', TEST_KEY],
    ['without the scope admin', FOREIGN_KEY],
  ])('answers 403 to a key %s', async (_case, key) => {
    const { ask } = await openWorld();

    expect((await ask('POST', '/api/trunks', ACME, key)).status).toBe(403);
  });
});

describe('PATCH /api/trunks/{name}', () => {
  test('sets a price with its defaults, replaces all of it, and takes it away', async () => {
    const { ask } = await openWorld();
    await ask('POST', '/api/trunks', ACME);
    const outbound = { perMinute: 0.012, currency: 'EUR' };
    const inbound = { ...outbound, incrementSeconds: 1, connection: 0.05 };
    const change = async (price: unknown) =>
      (await ask('PATCH', '/api/trunks/acme', { price })).body.price;

    const prices = [await change({ outbound }), await change({ inbound }), await change(null)];
    const wrong = await ask('PATCH', '/api/trunks/acme', { price: { outbound: { perMinute: 1 } } });

    expect(prices).toEqual([
      { inbound: null, outbound: { ...outbound, incrementSeconds: 60, connection: 0 } },
      { inbound, outbound: null },
      null,
    ]);
    expect([wrong.status, wrong.body.error.details]).toEqual([
      400,
      [
        {
          path: 'price.outbound.currency',
          message: 'expected the three capital letters of a currency (ISO 4217), such as EUR',
        },
      ],
    ]);
  });

  test('changes the given fields, keeps the password, and takes away what is null', async () => {
    const { api, ask } = await openWorld();
    await ask('POST', '/api/trunks', ACME);

    const { status, body } = await ask('PATCH', '/api/trunks/acme', {
      numbers: ['+3906*'],
      maxCalls: null,
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({ numbers: ['+3906*'], maxCalls: null, hasPassword: true });
    expect((await api.store.storedTrunks.find('acme'))?.password).toBe('the-password');
  });

  test.each([
    ['nothing', 'acme', {}, 400],
    ['a wrong field', 'acme', { codecs: ['G729'] }, 400],
    ['another name', 'acme', { name: 'other' }, 409],
    ['no trunk', 'none', { maxCalls: 1 }, 404],
  ])('refuses %s', async (_case, name, changes, expected) => {
    const { ask } = await openWorld();
    await ask('POST', '/api/trunks', ACME);

    const { status } = await ask('PATCH', `/api/trunks/${name}`, changes);

    expect(status).toBe(expected);
    expect((await ask('GET', '/api/trunks/acme')).body).toMatchObject({ codecs: ['PCMA'] });
  });
});

test('DELETE /api/trunks/{name} removes the trunk, once', async () => {
  const { ask } = await openWorld();
  await ask('POST', '/api/trunks', ACME);

  const [first, second] = [
    await ask('DELETE', '/api/trunks/acme'),
    await ask('DELETE', '/api/trunks/acme'),
  ];

  expect([first.status, second.status]).toEqual([204, 404]);
  expect((await ask('GET', '/api/trunks')).body).toEqual({ data: [] });
});

test('GET /api/trunks shows to another account its own trunks alone, without the user name', async () => {
  const { ask } = await openWorld();
  await ask('POST', '/api/trunks', ACME);
  await ask('POST', '/api/trunks', { ...ACME, name: 'theirs', account: 'acct_foreign' });
  const asForeign = (path: string) => ask('GET', path, undefined, FOREIGN_ADMIN_KEY);

  const listed = await asForeign('/api/trunks');
  const own = await asForeign('/api/trunks/theirs');
  const [others, none] = [await asForeign('/api/trunks/acme'), await asForeign('/api/trunks/none')];
  const ofOperator = await ask('GET', '/api/trunks');

  expect(listed.body.data).toEqual([own.body]);
  expect(own.body).toMatchObject({ name: 'theirs', username: null });
  expect([others.status, none.status]).toEqual([404, 404]);
  expect(others.body.error.message).toBe(none.body.error.message.replace('none"', 'acme"'));
  expect(ofOperator.body.data).toHaveLength(2);
});

test.each([
  ['acct_main', ADMIN_TEST_KEY],
  ['acct_foreign', FOREIGN_ADMIN_TEST_KEY],
])('GET /api/trunks shows no trunk to a test key of %s', async (account, key) => {
  const { ask } = await openWorld();
  await ask('POST', '/api/trunks', { ...ACME, account });

  const listed = await ask('GET', '/api/trunks', undefined, key);
  const shown = await ask('GET', '/api/trunks/acme', undefined, key);

  expect(listed).toMatchObject({ status: 200, body: { data: [] } });
  expect(shown.status).toBe(404);
});

test('A trunk of the file is listed with its source, and answers 409 to changes', async () => {
  const { ask } = await openWorld();
  const view = (await ask('POST', '/api/trunks', ACME)).body;
  const trunks = {
    list: () => [{ ...view, source: 'file' as const, expiresAt: null }],
    numbers: [],
    trunksOf: () => [],
    accountOf: () => undefined,
  };
  const other = await openTestApi({ trunks });
  const scopes = ['admin'] as const;
  await addKey(other.store, ADMIN_KEY, { accountId: 'acct_main', environment: 'live', scopes });
  const ask409 = async (method: string, body?: unknown) =>
    (
      await other.request(method, '/api/trunks/acme', {
        key: ADMIN_KEY,
        ...(body === undefined ? {} : { body }),
      })
    ).status;

  const list = await other.json('GET', '/api/trunks', { key: ADMIN_KEY });

  expect(list.body.data).toEqual([expect.objectContaining({ name: 'acme', source: 'file' })]);
  expect(await ask409('PATCH', { maxCalls: 1 })).toBe(409);
  expect(await ask409('DELETE')).toBe(409);
});
