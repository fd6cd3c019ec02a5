import { expect, test } from 'vitest';
import type { KeptAnswer } from '../../src/domain/account/rate-limit.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { openTestStore, type TestStore } from '../support/store/test-store.ts';

const DAY_MS = 86_400_000;

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const NAME = { ...SCOPE, method: 'POST', path: '/api/agents', key: 'k1' } as const;

const ANSWER: KeptAnswer = { status: 201, body: '{"id":"agent_1"}' };

/** Asks as a request would, and tells whether the work was done. */
function ask(
  store: TestStore,
  fields: Partial<Parameters<TestStore['idempotency']['once']>[0]> = {},
): { readonly answer: KeptAnswer; readonly isReplay: boolean; readonly isDone: boolean } {
  let isDone = false;
  const request = { ...NAME, fingerprint: 'f1', now: store.clock.now(), ...fields };
  const outcome = store.idempotency.once(request, () => {
    isDone = true;
    return ANSWER;
  });
  return { ...outcome, isDone };
}

test('SqliteIdempotencyStore does the work once and gives its answer again', async () => {
  const store = await openTestStore();

  const first = ask(store);
  const second = ask(store);

  expect(first).toEqual({ answer: ANSWER, isReplay: false, isDone: true });
  expect(second).toEqual({ answer: ANSWER, isReplay: true, isDone: false });
});

test('SqliteIdempotencyStore refuses another body with the same key, and does no work', async () => {
  const store = await openTestStore();
  ask(store);

  expect(() => ask(store, { fingerprint: 'f2' })).toThrow(
    'Cannot repeat the request: its X-Idempotency-Key was used with another body',
  );
  expect(ask(store).isReplay).toBe(true);
});

test.each([
  ['account', { accountId: 'acct_2' }],
  ['environment', { environment: 'test' }],
  ['method', { method: 'PUT' }],
  ['path', { path: '/api/calls/outbound' }],
  ['key', { key: 'k2' }],
] as const)('SqliteIdempotencyStore keeps answers apart by %s', async (_name, fields) => {
  const store = await openTestStore();
  ask(store);

  expect(ask(store, { ...fields, fingerprint: 'f2' }).isDone).toBe(true);
});

test('SqliteIdempotencyStore keeps an answer for 24 hours and not a millisecond longer', async () => {
  const store = await openTestStore();
  ask(store);

  store.clock.advance(DAY_MS - 1);
  const late = ask(store);
  store.clock.advance(1);
  const tooLate = ask(store, { fingerprint: 'f2' });

  expect([late.isReplay, tooLate.isReplay]).toEqual([true, false]);
});

test('SqliteIdempotencyStore undoes what the work wrote when the work throws, and keeps nothing', async () => {
  const store = await openTestStore();
  const request = { ...NAME, fingerprint: 'f1', now: store.clock.now() };

  const fail = () =>
    store.idempotency.once(request, () => {
      store.agents.insert(buildAgent());
      throw new TypeError('no');
    });

  expect(fail).toThrow(new TypeError('no'));
  expect(store.agents.find(SCOPE, 'agent_1')).toBeUndefined();
  expect(ask(store).isDone).toBe(true);
});

test('SqliteIdempotencyStore keeps an answer without a body', async () => {
  const store = await openTestStore();
  const request = { ...NAME, fingerprint: 'f1', now: store.clock.now() };

  store.idempotency.once(request, () => ({ status: 202, body: null }));

  expect(ask(store).answer).toEqual({ status: 202, body: null });
});
