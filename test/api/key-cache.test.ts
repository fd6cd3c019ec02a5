/** Keys that are cached for half a second: when they are read again, and how many are. */
import { expect, test } from 'vitest';
import { KeyCache } from '../../src/api/http/access.ts';
import type { ApiKeyStore } from '../../src/domain/account/api-key.ts';
import { addKey } from '../support/api/test-api.ts';
import { openTestStore } from '../support/store/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const [ONE, OTHER] = [`svc_live_${'1'.repeat(32)}`, `svc_live_${'2'.repeat(32)}`];

const idOf = (keyText: string) => `key_${keyText.slice(-12)}`;

/** A cache over a real store with two keys; `seen` counts how often it reads and marks them. */
async function openCache() {
  const store = await openTestStore();
  for (const key of [ONE, OTHER]) await addKey(store, key, SCOPE);
  const seen = { reads: 0, touches: 0 };
  const { accounts, clock } = store;
  const apiKeys: ApiKeyStore = Object.assign(Object.create(store.apiKeys), {
    findByHash: async (hash: string) => {
      seen.reads += 1;
      return store.apiKeys.findByHash(hash);
    },
    touch: async (id: string, now: Date) => {
      seen.touches += 1;
      await store.apiKeys.touch(id, now);
    },
  });
  return { store, clock, seen, cache: new KeyCache({ accounts, apiKeys, clock }) };
}

test('KeyCache reads a key once in half a second, several keys side by side', async () => {
  const { cache, clock, seen } = await openCache();

  const reads: unknown[] = [];
  for (const key of [ONE, OTHER, ONE, OTHER]) {
    const caller = await cache.callerOf(key);
    reads.push([caller?.apiKey.id === idOf(key), seen.reads]);
  }
  clock.advance(499);
  await cache.callerOf(ONE);
  const before = seen.reads;
  clock.advance(1);
  await cache.callerOf(ONE);

  expect(reads).toEqual([
    [true, 1],
    [true, 2],
    [true, 2],
    [true, 2],
  ]);
  expect([before, seen.reads]).toEqual([2, 3]);
});

test('KeyCache marks the use of a key once a minute', async () => {
  const { cache, clock, seen } = await openCache();

  const touches: number[] = [];
  for (const ms of [0, 59_499, 501]) {
    clock.advance(ms);
    await cache.callerOf(ONE);
    touches.push(seen.touches);
  }

  expect(touches).toEqual([1, 1, 2]);
});

test('KeyCache remembers no unknown key, and a forgotten one is read again', async () => {
  const { cache, seen } = await openCache();

  const unknown = await Promise.all([1, 2].map(() => cache.callerOf(`svc_live_${'9'.repeat(32)}`)));
  const readsOfUnknown = seen.reads;
  await cache.callerOf(ONE);
  await cache.callerOf(OTHER);
  cache.forget(idOf(ONE));
  await cache.callerOf(OTHER);
  const before = seen.reads;
  await cache.callerOf(ONE);

  expect(unknown).toEqual([undefined, undefined]);
  expect(readsOfUnknown).toBe(2);
  expect([before, seen.reads]).toEqual([4, 5]);
});

test('KeyCache knows no revoked key', async () => {
  const { cache, store, clock } = await openCache();
  await store.apiKeys.revoke(SCOPE, idOf(ONE), clock.now());

  expect(await cache.callerOf(ONE)).toBeUndefined();
});

test('KeyCache forgets of 1,001 keys the one that it has known longest', async () => {
  const { store, clock } = await openCache();
  const apiKey = await store.apiKeys.find('acct_1', idOf(ONE));
  let reads = 0;
  const findByHash = () => {
    reads += 1;
    return apiKey;
  };
  const touch = () => undefined;
  const apiKeys: ApiKeyStore = Object.assign(Object.create(store.apiKeys), { findByHash, touch });
  const cache = new KeyCache({ accounts: store.accounts, apiKeys, clock });
  const keys = Array.from({ length: 1001 }, (_, number) => `key ${number}`);
  for (const key of keys) await cache.callerOf(key);

  await cache.callerOf(keys[1] ?? '');
  const kept = reads;
  await cache.callerOf(keys[0] ?? '');

  expect([kept, reads]).toEqual([1001, 1002]);
});
