import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { StoreError } from '../../src/domain/service-error.ts';
import { SqliteAgentVersionStore } from '../../src/store/agents/sqlite-agent-store.ts';
import { FOREIGN_KEY, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const SCOPE = { accountId: 'acct_main', environment: 'live' } as const;

const DAY_MS = 86_400_000;

type Options = NonNullable<Parameters<TestApi['request']>[2]>;

/** Makes an agent under an idempotency key. */
async function post(api: TestApi, key: string, options: Options = {}) {
  const headers = { 'X-Idempotency-Key': key };
  const response = await api.request('POST', '/api/agents', { body: DRAFT, headers, ...options });
  const text = await response.text();
  return {
    status: response.status,
    text,
    isReplay: response.headers.get('Idempotent-Replayed') === 'true',
    requestId: response.headers.get('X-Request-Id'),
    retryAfter: response.headers.get('Retry-After'),
    error: JSON.parse(text).error,
  };
}

async function agentsIn(api: TestApi): Promise<number> {
  return (await api.store.agents.list(SCOPE, { limit: 100, offset: 0 }, api.store.clock.now()))
    .total;
}

describe('A repeated POST', () => {
  test('makes nothing new and gets the same answer, marked as a replay', async () => {
    const api = await openTestApi();

    const first = await post(api, 'k1');
    api.store.clock.advance(60_000);
    const second = await post(api, 'k1');

    expect([first.status, first.isReplay]).toEqual([201, false]);
    expect(second).toMatchObject({ status: 201, isReplay: true, text: first.text });
    expect(second.requestId).not.toBe(first.requestId);
    expect(await agentsIn(api)).toBe(1);
  });

  test('is the same when its JSON means the same', async () => {
    const api = await openTestApi();
    await post(api, 'k1', { body: undefined, text: JSON.stringify(DRAFT) });

    const text = `{ "systemPrompt": "Be brief.",\n "greeting": "H\\u0065llo", "name": "Till" }`;
    const again = await post(api, 'k1', { body: undefined, text });

    expect(again.isReplay).toBe(true);
  });

  test('answers 422 to another body, and keeps the first answer', async () => {
    const api = await openTestApi();
    const first = await post(api, 'k1');

    const other = await post(api, 'k1', { body: { ...DRAFT, name: 'Other' } });
    const again = await post(api, 'k1');

    expect([other.status, other.error.code, other.isReplay]).toEqual([422, 'UNPROCESSABLE', false]);
    expect(again).toMatchObject({ isReplay: true, text: first.text });
    expect(await agentsIn(api)).toBe(1);
  });

  test('counts as new after 24 hours', async () => {
    const api = await openTestApi();
    await post(api, 'k1');

    api.store.clock.advance(DAY_MS - 1);
    const late = await post(api, 'k1');
    api.store.clock.advance(1);
    const tooLate = await post(api, 'k1');

    expect([late.isReplay, tooLate.isReplay, await agentsIn(api)]).toEqual([true, false, 2]);
  });

  test.each([
    ['account', { key: FOREIGN_KEY }],
    ['environment', { key: TEST_KEY }],
  ])('is another one with a key of another %s', async (_case, options) => {
    const api = await openTestApi();
    await post(api, 'k1');

    const other = await post(api, 'k1', { ...options, body: { ...DRAFT, name: 'Other' } });

    expect([other.status, other.isReplay]).toEqual([201, false]);
  });

  test('replays an error that it would meet again, with an id of its own', async () => {
    const api = await openTestApi();
    const body = { ...DRAFT, phoneNumber: '+390612345678' };
    await api.request('POST', '/api/agents', { body });

    const first = await post(api, 'k1', { body });
    await api.store.agents.delete(
      SCOPE,
      (await api.json('GET', '/api/agents')).body.data[0]?.id ?? '',
    );
    const second = await post(api, 'k1', { body });

    expect([first.status, first.error.code]).toEqual([409, 'CONFLICT']);
    expect(second).toMatchObject({ status: 409, isReplay: true });
    expect(second.error).toEqual({ ...first.error, requestId: second.requestId });
    expect(second.requestId).not.toBe(first.requestId);
  });

  test('replays a 422', async () => {
    const api = await openTestApi();
    const body = { ...DRAFT, phoneNumber: '+39061' };

    const [first, second] = [await post(api, 'k1', { body }), await post(api, 'k1', { body })];

    expect([first.status, first.isReplay]).toEqual([422, false]);
    expect([second.status, second.isReplay]).toEqual([422, true]);
  });

  test('is tried again after a 400, a 401 or a 429', async () => {
    const api = await openTestApi({}, { plan: 'business' });
    const hour = { startsAt: new Date('2026-11-20T12:00Z'), endsAt: new Date('2026-11-20T13:00Z') };

    const statuses = [
      (await post(api, 'k1', { body: { ...DRAFT, name: '' } })).status,
      (await post(api, 'k1', { key: null })).status,
    ];
    for (let used = 0; used < 1000; used++)
      await api.store.rates.count('account:acct_main:live', hour);
    statuses.push((await post(api, 'k1')).status);
    api.store.clock.advance(3_600_000);
    const last = await post(api, 'k1');

    expect(statuses).toEqual([400, 401, 429]);
    expect([last.status, last.isReplay]).toEqual([201, false]);
  });

  test.each([
    ['the database', new StoreError('the disk is full', 'full'), 503],
    ['our own code', new TypeError('no'), 500],
  ])('is tried again after a failure of %s', async (_case, failure, status) => {
    const api = await openTestApi();
    // The agent's row has been written before.
    vi.spyOn(SqliteAgentVersionStore.prototype, 'keep').mockRejectedValueOnce(failure);
    onTestFinished(() => void vi.restoreAllMocks());

    const first = await post(api, 'k1');
    const left = await agentsIn(api);
    const second = await post(api, 'k1');

    expect([first.status, left]).toEqual([status, 0]);
    expect([second.status, second.isReplay]).toEqual([201, false]);
  });
});

test.each([
  ['an empty one', ''],
  ['256 characters', 'k'.repeat(256)],
  ['a blank', 'a b'],
  ['a tab', 'a\tb'],
  ['DEL', 'a\u007f'],
  ['Latin-1', 'caf\u00e9'],
])('An idempotency key that is %s is refused by name', async (_case, key) => {
  const api = await openTestApi();

  const { status, error } = await post(api, key);

  expect([status, error.details[0].path]).toEqual([400, 'X-Idempotency-Key']);
  expect(await agentsIn(api)).toBe(0);
});

test.each([
  'k',
  '!~"\'',
  'k'.repeat(255),
  '2f1b9a4e-3a52-4d5b-9f57-5a6e0d3b8c11',
])('An idempotency key may be "%s"', async (key) => {
  const api = await openTestApi();

  const statuses = [(await post(api, key)).isReplay, (await post(api, key)).isReplay];

  expect(statuses).toEqual([false, true]);
});

test('POST without an idempotency key makes something new each time', async () => {
  const api = await openTestApi();

  await api.request('POST', '/api/agents', { body: DRAFT });
  await api.request('POST', '/api/agents', { body: DRAFT });

  expect(await agentsIn(api)).toBe(2);
});

test('A hundred racing POSTs with one key make one agent; those that find the first one running get a 409', async () => {
  const api = await openTestApi();

  const answers = await Promise.all(Array.from({ length: 100 }, () => post(api, 'k1')));

  expect(await agentsIn(api)).toBe(1);
  expect(answers.filter(({ status, isReplay }) => status === 201 && !isReplay)).toHaveLength(1);
  const running = answers.filter(({ status }) => status === 409);
  expect(running.length).toBeGreaterThan(0);
  for (const { error, isReplay, retryAfter } of running) {
    expect([error.code, isReplay, retryAfter]).toEqual(['CONFLICT', false, '1']);
  }
  expect((await post(api, 'k1')).isReplay).toBe(true);
});

test('A thousand keys of five racers each make a thousand agents', async () => {
  const api = await openTestApi();
  const keys = fc.string({ unit: visible(), minLength: 1, maxLength: 40 });
  let expected = 0;

  await fc.assert(
    fc.asyncProperty(keys, fc.string(), async (key, salt) => {
      const name = `${expected} ${salt.replaceAll('\0', '')}`.slice(0, 100).toWellFormed();
      expected += 1;
      const unique = `${expected}/${key}`;
      const race = Array.from({ length: 5 }, () => post(api, unique, { body: { ...DRAFT, name } }));
      const answers = (await Promise.all(race)).filter(({ status }) => status !== 409);

      expect(new Set(answers.map(({ text, status }) => `${status} ${text}`)).size).toBe(1);
      expect([answers[0]?.status, await agentsIn(api)]).toEqual([201, expected]);
    }),
    { numRuns: 1000 },
  );
});

function visible(): fc.Arbitrary<string> {
  return fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
}
