/** API keys as requests show them: when their use is marked, and when they stop. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ApiEnv } from '../../src/api/api-env.ts';
import { authenticate } from '../../src/api/http/authentication.ts';
import type { ApiKeyStore } from '../../src/domain/account/api-key.ts';
import { addKey } from '../support/api/test-api.ts';
import { openTestStore } from '../support/store/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const KEY = `svc_live_${'1'.repeat(32)}`;

/** A real store with one key; `touches` counts how often it is marked, `idOf` gives the id of a shown key. */
async function openKeys() {
  const store = await openTestStore();
  await addKey(store, KEY, SCOPE);
  const seen = { touches: 0 };
  const { accounts, clock } = store;
  const apiKeys: ApiKeyStore = Object.assign(Object.create(store.apiKeys), {
    findByHash: (hash: string) => store.apiKeys.findByHash(hash),
    touch: async (id: string, now: Date) => {
      seen.touches += 1;
      await store.apiKeys.touch(id, now);
    },
  });
  const app = new Hono<ApiEnv>().get('/', async (context) => {
    await authenticate(context, { accounts, apiKeys, clock });
    return context.text(context.get('caller')?.apiKey.id ?? 'nobody');
  });
  const idOf = async (key: string) =>
    (await app.request('/', { headers: { Authorization: `Bearer ${key}` } })).text();
  return { store, clock, seen, idOf };
}

test('authenticate marks the use of a key once a minute', async () => {
  const { idOf, clock, seen } = await openKeys();

  const touches: number[] = [];
  for (const ms of [0, 59_999, 1]) {
    clock.advance(ms);
    await idOf(KEY);
    touches.push(seen.touches);
  }

  expect(touches).toEqual([1, 1, 2]);
});

test('authenticate knows no key that was never made, and a revoked one no longer', async () => {
  const { idOf, store, clock } = await openKeys();
  const before = await idOf(KEY);
  await store.apiKeys.revoke(SCOPE, `key_${KEY.slice(-12)}`, clock.now());

  const after = await idOf(KEY);

  expect([before, after]).toEqual([`key_${KEY.slice(-12)}`, 'nobody']);
  expect(await idOf(`svc_live_${'9'.repeat(32)}`)).toBe('nobody');
});
