import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import { API_SCOPES, describeKey, hashOfKey } from '../../src/domain/account/api-key.ts';
import {
  type BootstrapSettings,
  bootstrap,
  settingsWithoutEffect,
} from '../../src/domain/account/bootstrap.ts';
import { idMaker } from '../../src/domain/ids.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { openTestStore, testFolder } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const NOW = new Date('2026-11-20T12:00:00.000Z');

const newId = idMaker({ nowMs: () => NOW.getTime(), random: randomBytes });

async function openEmpty(): Promise<{ store: Store; folder: string }> {
  const folder = testFolder();
  const file = join(folder, 'offhook.db');
  return { store: await openStore({ file, clock: new FakeClock(), log: silentLogger }), folder };
}

async function start(store: Store, settings: BootstrapSettings = {}) {
  return bootstrap({ accounts: store.accounts, settings, newId, random: randomBytes, now: NOW });
}

test('bootstrap makes one account with a live key, a test key and two different signing secrets', async () => {
  const { store } = await openEmpty();

  const secrets = await start(store);

  const live = await store.apiKeys.findByHash(hashOfKey(secrets?.liveKey ?? ''));
  const sandbox = await store.apiKeys.findByHash(hashOfKey(secrets?.testKey ?? ''));
  expect(live).toMatchObject({ environment: 'live', scopes: API_SCOPES, revokedAt: null });
  expect(sandbox).toMatchObject({ environment: 'test', accountId: live?.accountId });
  expect(
    (await store.accounts.signingSecrets(live?.accountId ?? '', 'live', NOW))?.current,
  ).toMatch(/^whsec_/);
  expect(secrets?.signingSecrets.live).not.toBe(secrets?.signingSecrets.test);
  await store.close();
});

test('bootstrap takes what the operator set', async () => {
  const { store } = await openEmpty();
  const liveKey = `svc_live_${'a'.repeat(32)}`;
  const testKey = `svc_test_${'b'.repeat(32)}`;

  const secrets = await start(store, { liveKey, testKey, signingSecret: 'whsec_chosen' });

  const accountId = (await store.apiKeys.findByHash(hashOfKey(liveKey)))?.accountId ?? '';
  expect(secrets).toEqual({
    liveKey,
    testKey,
    signingSecrets: { live: 'whsec_chosen', test: 'whsec_chosen' },
  });
  expect((await store.accounts.signingSecrets(accountId, 'test', NOW))?.current).toBe(
    'whsec_chosen',
  );
  await store.close();
});

test('bootstrap does nothing at the second start, whatever is set', async () => {
  const { store } = await openEmpty();
  await start(store);

  const again = await start(store, { liveKey: `svc_live_${'c'.repeat(32)}` });

  expect(again).toBeUndefined();
  expect(await store.accounts.count()).toBe(1);
  expect(await store.apiKeys.findByHash(hashOfKey(`svc_live_${'c'.repeat(32)}`))).toBeUndefined();
  await store.close();
});

test('settingsWithoutEffect names keys and secrets that a later start finds unknown or revoked', async () => {
  const { store } = await openEmpty();
  const known = {
    liveKey: `svc_live_${'a'.repeat(32)}`,
    testKey: `svc_test_${'b'.repeat(32)}`,
    signingSecret: 'chosen before secrets were checked',
  };
  await start(store, known);
  const without = (settings: BootstrapSettings) =>
    settingsWithoutEffect({ ...store, settings, now: NOW });
  const sandboxKey = await store.apiKeys.findByHash(hashOfKey(known.testKey));
  const scope = { accountId: sandboxKey?.accountId ?? '', environment: 'test' } as const;

  const atFirst = await without(known);
  await store.apiKeys.revoke(scope, sandboxKey?.id ?? '', NOW);
  const later = await without({ ...known, liveKey: `svc_live_${'c'.repeat(32)}` });

  expect(atFirst).toEqual([]);
  expect(later).toEqual(['liveKey', 'testKey']);
  expect(await without({ signingSecret: 'whsec_bmV3' })).toEqual(['signingSecret']);
  expect(await without({})).toEqual([]);
  await store.close();
});

test('bootstrap leaves no key in the database files', async () => {
  const { store, folder } = await openEmpty();
  const secrets = await start(store);

  const everything = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));

  expect(everything.join('')).toContain(hashOfKey(secrets?.liveKey ?? ''));
  expect(everything.join('')).not.toContain(secrets?.liveKey.slice('svc_live_'.length));
  await store.close();
});

test('AccountStore founds all or nothing', async () => {
  const store = await openTestStore();
  const apiKey = describeKey('svc_live_x', {
    id: 'key_1',
    accountId: 'acct_2',
    environment: 'live',
    name: 'k',
    scopes: [],
    createdAt: NOW,
  });
  const account = {
    id: 'acct_2',
    name: 'B',
    plan: 'starter',
    minutesIncluded: 0,
    transferTargets: [],
    allowedCountries: null,
    callingHours: null,
    retention: KEEP_CALLS,
    createdAt: NOW,
  };
  const signingSecrets = { live: 'a', test: 'b' };
  const twice = [
    { apiKey, hash: 'same' },
    { apiKey: { ...apiKey, id: 'key_2' }, hash: 'same' },
  ];

  const found = () =>
    store.accounts.found({
      account: { ...account, plan: 'starter' },
      signingSecrets,
      apiKeys: twice,
    });

  await expect(found()).rejects.toThrow('UNIQUE');
  expect(await store.accounts.find('acct_2')).toBeUndefined();
  expect(await store.apiKeys.findByHash('same')).toBeUndefined();
});

test('ApiKeyStore lists, touches and revokes within its scope', async () => {
  const { apiKeys } = await openTestStore();
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const facts = { ...scope, name: 'k', scopes: API_SCOPES, createdAt: NOW };
  await apiKeys.insert(describeKey('svc_live_1', { ...facts, id: 'key_1' }), 'hash 1');
  await apiKeys.insert(describeKey('svc_live_2', { ...facts, id: 'key_2' }), 'hash 2');

  await apiKeys.touch('key_1', new Date(5));
  await apiKeys.revoke({ ...scope, environment: 'test' }, 'key_1', new Date(6));
  await apiKeys.revoke(scope, 'key_2', new Date(7));
  await apiKeys.revoke(scope, 'key_2', new Date(8));

  expect(await apiKeys.list(scope)).toMatchObject([
    { id: 'key_2', lastUsedAt: null, revokedAt: new Date(7) },
    { id: 'key_1', lastUsedAt: new Date(5), revokedAt: null },
  ]);
  expect(await apiKeys.list({ ...scope, environment: 'test' })).toEqual([]);
});
