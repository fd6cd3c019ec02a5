/** What a backup holds of calls that were erased, and what a restore does about it. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ErasureOrder } from '../../src/domain/account/erasure.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { makeBackup } from '../../src/store/backup/backup.ts';
import { restoreBackup } from '../../src/store/backup/backup-restore.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addManyTalks, addTalk } from '../support/store/build-talk.ts';
import { foundIn } from '../support/store/found-in.ts';
import {
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
  testFolder,
} from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { buildEndpoint } from '../support/webhook/webhook-world.ts';

const NOW = new Date(STORE_NOW_MS);
const [CALLER, WORDS] = ['+390699887766', 'a very private matter'];

const ORDER: ErasureOrder = {
  id: 'ers_1',
  accountId: 'acct_1',
  environment: 'live',
  kind: 'call',
  askedBy: 'key_1',
  askedAt: NOW,
};

async function backUp(store: TestStore): Promise<string> {
  const folder = join(testFolder(), 'backup');
  const { file: databaseFile, folder: dataFolder } = store;
  const where = { databaseFile, dataFolder, folder, recordings: 'copy' as const };
  await makeBackup({ ...where, version: '0.0.0', now: NOW });
  return folder;
}

function restore(dataFolder: string, folder: string, erasuresFrom?: string) {
  const databaseFile = join(dataFolder, 'offhook.db');
  const where = { folder, databaseFile, dataFolder, erasuresFrom };
  return restoreBackup({ ...where, mayReplace: true, keepQueue: false, now: NOW });
}

async function reopened(dataFolder: string): Promise<Store> {
  const file = join(dataFolder, 'offhook.db');
  const store = await openStore({ file, clock: new FakeClock(STORE_NOW_MS), log: silentLogger });
  onTestFinished(() => store.close());
  return store;
}

/** A backup of two calls, the first of which is erased after it. */
async function openErased() {
  const store = await openTestStore();
  await addTalk(store, { id: 'call_1', from: CALLER }, WORDS);
  await addTalk(store, { id: 'call_2' });
  const folder = await backUp(store);
  await store.erasures.erase('call_1', ORDER);
  return { store, folder };
}

test('restoreBackup erases again what was erased since the backup, with its recording', async () => {
  const { store, folder } = await openErased();
  await store.close();

  const { callsErased, erasuresRead, recordings } = await restore(store.folder, folder);

  const restored = await reopened(store.folder);
  expect([callsErased, erasuresRead, recordings.files]).toEqual([1, true, 1]);
  expect(await restored.calls.findById('call_1')).toBeUndefined();
  expect(await restored.calls.findById('call_2')).toBeDefined();
  expect(await restored.erasures.list(9)).toMatchObject([{ id: 'ers_1', askedBy: 'key_1' }]);
  const left = foundIn(store.folder, WORDS).filter((name) => !name.includes('before-restore'));
  expect(left).toEqual(['recordings/call_1.wav']);
});

test('restoreBackup tells the next restore too, also of calls that the backup does not have', async () => {
  const store = await openTestStore();
  const older = await backUp(store);
  await addTalk(store, { id: 'call_1' });
  const newer = await backUp(store);
  await store.erasures.erase('call_1', ORDER);
  await store.close();

  const first = await restore(store.folder, older);
  const second = await restore(store.folder, newer);

  expect([first.callsErased, second.callsErased]).toEqual([0, 1]);
});

test('restoreBackup rewrites the file after its erasures', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  const ids = await addManyTalks(store, { from: CALLER, words: WORDS });
  const folder = await backUp(store);
  for (const id of ids) await store.erasures.erase(id, { ...ORDER, id: `ers_${id}` });
  const aware = testFolder();

  await restore(aware, folder, store.file);

  expect(foundIn(aware, CALLER)).toEqual([]);
  expect(foundIn(aware, WORDS)).toEqual([]);
});

test('restoreBackup in another place takes the erasures of a newer backup', async () => {
  const { store, folder } = await openErased();
  const newer = await backUp(store);
  const [unaware, aware] = [testFolder(), testFolder()];

  const without = await restore(unaware, folder);
  const withNewer = await restore(aware, folder, join(newer, 'offhook.db'));

  expect([without.callsErased, without.erasuresRead]).toEqual([0, null]);
  expect([withNewer.callsErased, withNewer.erasuresRead]).toEqual([1, null]);
  expect(await (await reopened(unaware)).calls.findById('call_1')).toBeDefined();
  expect(await (await reopened(aware)).calls.findById('call_1')).toBeUndefined();
  expect(existsSync(join(aware, 'recordings/call_1.wav'))).toBe(false);
  expect(foundIn(aware, WORDS)).toEqual([]);
});

test('restoreBackup says that a damaged database could not tell what was erased', async () => {
  const { folder } = await openErased();
  const dataFolder = testFolder();
  writeFileSync(join(dataFolder, 'offhook.db'), 'no database');

  const { callsErased, erasuresRead } = await restore(dataFolder, folder);

  expect([callsErased, erasuresRead]).toEqual([0, false]);
});

test('restoreBackup leaves a call for later that is in progress in the backup', async () => {
  const store = await openTestStore();
  const call = buildCall({ id: 'call_1', from: CALLER });
  await store.calls.insert(call, []);
  const folder = await backUp(store);
  await store.calls.update({ ...call, status: 'failed', endedAt: NOW, endReason: 'error' }, []);
  await store.erasures.erase('call_1', ORDER);
  await store.close();

  const { callsErased } = await restore(store.folder, folder);
  const restored = await reopened(store.folder);
  const before = await restored.erasures.eraseNoted(NOW);
  await restored.calls.update({ ...call, status: 'failed', endedAt: NOW, endReason: 'error' }, []);

  expect([callsErased, before]).toEqual([1, 0]);
  expect(await restored.erasures.eraseNoted(NOW)).toBe(1);
  expect(await restored.calls.findById('call_1')).toBeUndefined();
});

test('makeBackup copies nothing of an erased call, though the server has not yet rewritten the file', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  const ids = await addManyTalks(store, { from: CALLER, words: WORDS });
  for (const id of ids) await store.erasures.erase(id, { ...ORDER, id: `ers_${id}` });

  const folder = await backUp(store);

  expect(foundIn(folder, CALLER)).toEqual([]);
  expect(foundIn(folder, WORDS)).toEqual([]);
});
