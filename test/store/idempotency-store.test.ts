import { expect, test } from 'vitest';
import type { IdempotentRequest, KeptAnswer } from '../../src/domain/account/rate-limit.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { openTestStore, type TestStore } from '../support/store/test-store.ts';

const DAY_MS = 86_400_000;

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const NAME = { ...SCOPE, method: 'POST', path: '/api/agents', key: 'k1' } as const;

const ANSWER: KeptAnswer = { status: 201, body: '{"id":"agent_1"}' };

/** Claims the key as a request would, and keeps its answer where it is the first. */
async function ask(
  store: TestStore,
  fields: Partial<IdempotentRequest> = {},
): Promise<{ readonly answer: KeptAnswer; readonly isReplay: boolean }> {
  const request = { ...NAME, fingerprint: 'f1', now: store.clock.now(), ...fields };
  const kept = await store.idempotency.claim(request);
  if (kept !== undefined) return { answer: kept, isReplay: true };
  await store.idempotency.keep(request, ANSWER);
  return { answer: ANSWER, isReplay: false };
}

function requestOf(store: TestStore): IdempotentRequest {
  return { ...NAME, fingerprint: 'f1', now: store.clock.now() };
}

test('SqliteIdempotencyStore gives the answer of the first request again', async () => {
  const store = await openTestStore();

  const first = await ask(store);
  const second = await ask(store);

  expect(first).toEqual({ answer: ANSWER, isReplay: false });
  expect(second).toEqual({ answer: ANSWER, isReplay: true });
});

test('SqliteIdempotencyStore refuses another body with the same key', async () => {
  const store = await openTestStore();
  await ask(store);

  await expect(ask(store, { fingerprint: 'f2' })).rejects.toThrow(
    'Cannot repeat the request: its X-Idempotency-Key was used with another body',
  );
  expect((await ask(store)).isReplay).toBe(true);
});

test('SqliteIdempotencyStore refuses a key whose first request still runs', async () => {
  const store = await openTestStore();
  await store.idempotency.claim(requestOf(store));

  await expect(ask(store)).rejects.toThrow(
    'Cannot repeat the request yet: the first one with its X-Idempotency-Key is still running',
  );
  await expect(ask(store, { fingerprint: 'f2' })).rejects.toThrow('with another body');
});

test('SqliteIdempotencyStore frees a key that is released, and no key that has its answer', async () => {
  const store = await openTestStore();
  await store.idempotency.claim(requestOf(store));

  await store.idempotency.release(NAME);
  const first = await ask(store);
  await store.idempotency.release(NAME);

  expect([first.isReplay, (await ask(store)).isReplay]).toEqual([false, true]);
});

test('SqliteIdempotencyStore frees the keys that an earlier process left running', async () => {
  const store = await openTestStore();
  await ask(store, { key: 'answered' });
  await store.idempotency.claim(requestOf(store));

  await store.idempotency.releaseAll();

  expect((await ask(store)).isReplay).toBe(false);
  expect((await ask(store, { key: 'answered' })).isReplay).toBe(true);
});

test('SqliteIdempotencyStore gives a key to the next request ten minutes after a claim without end', async () => {
  const store = await openTestStore();
  await store.idempotency.claim(requestOf(store));

  store.clock.advance(600_000 - 1);
  await expect(ask(store)).rejects.toThrow('still running');
  store.clock.advance(1);

  expect((await ask(store)).isReplay).toBe(false);
});

test.each([
  ['account', { accountId: 'acct_2' }],
  ['environment', { environment: 'test' }],
  ['method', { method: 'PUT' }],
  ['path', { path: '/api/calls/outbound' }],
  ['key', { key: 'k2' }],
] as const)('SqliteIdempotencyStore keeps answers apart by %s', async (_name, fields) => {
  const store = await openTestStore();
  await ask(store);

  expect((await ask(store, { ...fields, fingerprint: 'f2' })).isReplay).toBe(false);
});

test('SqliteIdempotencyStore keeps an answer for 24 hours and not a millisecond longer', async () => {
  const store = await openTestStore();
  await ask(store);

  store.clock.advance(DAY_MS - 1);
  const late = await ask(store);
  store.clock.advance(1);
  const tooLate = await ask(store, { fingerprint: 'f2' });

  expect([late.isReplay, tooLate.isReplay]).toEqual([true, false]);
});

test('SqliteIdempotencyStore keeps an answer only if the transaction of its change is committed', async () => {
  const store = await openTestStore();
  const request = requestOf(store);
  await store.idempotency.claim(request);

  const change = store.transaction(async (stores) => {
    await stores.agents.insert(buildAgent());
    await stores.idempotency.keep(request, ANSWER);
    throw new TypeError('no');
  });

  await expect(change).rejects.toThrow(new TypeError('no'));
  expect(await store.agents.find(SCOPE, 'agent_1')).toBeUndefined();
  await expect(ask(store)).rejects.toThrow('still running');
});

test('SqliteIdempotencyStore keeps an answer without a body', async () => {
  const store = await openTestStore();
  await store.idempotency.claim(requestOf(store));

  await store.idempotency.keep(requestOf(store), { status: 202, body: null });

  expect((await ask(store)).answer).toEqual({ status: 202, body: null });
});
