import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { makeBackup } from '../../src/store/backup/backup.ts';
import { restoreBackup } from '../../src/store/backup/backup-restore.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { openBox, sealAgain } from '../../src/store/sqlite/sealed-columns.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { foundIn } from '../support/store/found-in.ts';
import {
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
  testFolder,
} from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const [PASSWORD, HEADER] = ['correct horse battery staple', 'Bearer 5e61d9a2c07b4f'];
const NOW = new Date(STORE_NOW_MS);
const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;
const newKey = () => randomBytes(32).toString('base64');

/** Opens the store again, as the next start does. */
function reopen(file: string, secretsKey?: string): Promise<Store> {
  return openStore({ file, clock: new FakeClock(STORE_NOW_MS), log: silentLogger, secretsKey });
}

async function addSecrets(store: Store): Promise<void> {
  const settings = { name: 'carrier' } as never;
  await store.storedTrunks.save({
    name: 'carrier',
    settings,
    password: PASSWORD,
    createdAt: NOW,
    updatedAt: NOW,
  });
  await store.customTools.insert({
    ...SCOPE,
    name: 'orders',
    description: 'Finds an order.',
    parameters: { type: 'object' },
    method: 'GET',
    url: 'https://shop.example/orders',
    headers: [{ name: 'Authorization', value: HEADER, secret: true }],
    timeoutMs: 1000,
    sayWhileWaiting: null,
    resultPath: null,
    createdAt: NOW,
    updatedAt: NOW,
  } as never);
}

async function secretsOf(store: Store): Promise<unknown> {
  const [trunk] = await store.storedTrunks.list();
  const tool = await store.customTools.find(SCOPE, 'orders');
  return [trunk?.password ?? null, tool?.headers.map(({ value }) => value)];
}

const ALL = [PASSWORD, [HEADER]];

async function storeWithSecrets(): Promise<TestStore> {
  const store = await openTestStore();
  await addSecrets(store);
  return store;
}

test('passwords and headers lie sealed in the database, and the key next to it, for its owner only', async () => {
  const store = await storeWithSecrets();
  expect(await secretsOf(store)).toEqual(ALL);
  expect(foundIn(store.folder, PASSWORD)).toEqual([]);
  expect(foundIn(store.folder, HEADER)).toEqual([]);
  expect(statSync(join(store.folder, 'secrets.key')).mode & 0o777).toBe(0o600);
});

test('secrets of a version that kept them as they are get sealed at the start', async () => {
  const store = await storeWithSecrets();
  await store.close();
  const sqlite = new Sqlite(store.file);
  sqlite.prepare('update trunks set password = ?').run(PASSWORD);
  sqlite.close();

  const next = await reopen(store.file);
  expect(await secretsOf(next)).toEqual(ALL);
  await next.close();
  expect(foundIn(store.folder, PASSWORD)).toEqual([]);
});

test('SECRETS_KEY takes over from the file, which is not needed from then on', async () => {
  const store = await storeWithSecrets();
  await store.close();
  const key = newKey();
  await (await reopen(store.file, key)).close();
  rmSync(join(store.folder, 'secrets.key'));

  const next = await reopen(store.file, key);
  expect(await secretsOf(next)).toEqual(ALL);
  await next.close();
});

test('without its key the database is not opened; the error says what to do, and forgetting is the way on', async () => {
  const store = await storeWithSecrets();
  await store.close();
  writeFileSync(join(store.folder, 'secrets.key'), newKey());
  await expect(reopen(store.file)).rejects.toThrow(
    /secret of "carrier" in trunks.*another key.*forget-secrets/s,
  );

  const { database } = await openDatabase({ file: store.file });
  const box = openBox(store.file, undefined);
  const forgotten = await sealAgain(database, box, { forget: true });
  database.close();
  expect(forgotten).toEqual(['trunks "carrier"', 'custom_tools "orders"']);
  const next = await reopen(store.file);
  expect(await secretsOf(next)).toEqual([null, []]);
  await next.close();
});

test('a start does not wait for the write lock of another process, where nothing is to be sealed', async () => {
  const store = await storeWithSecrets();
  await store.close();
  const { database } = await openDatabase({ file: store.file });
  const other = new Sqlite(store.file);
  other.exec('begin immediate');

  const box = openBox(store.file, undefined);
  expect(await sealAgain(database, box, { forget: false })).toEqual([]);

  other.close();
  database.close();
});

test('a line of the file that is no key is named', async () => {
  const store = await openTestStore();
  await store.close();
  writeFileSync(join(store.folder, 'secrets.key'), `${newKey()}\nnot a key\n`);
  await expect(reopen(store.file)).rejects.toThrow('line 2 is not 32 bytes in base64');
});

test('a backup has the key along, and a restore keeps the key that was there', async () => {
  const store = await storeWithSecrets();
  const parent = testFolder();
  const folder = join(parent, 'backup');
  const { file: databaseFile, folder: dataFolder } = store;
  await makeBackup({
    databaseFile,
    dataFolder,
    folder,
    recordings: 'none',
    version: '0',
    now: NOW,
  });

  const other = await openTestStore();
  await other.close();
  const keyBefore = readFileSync(join(other.folder, 'secrets.key'), 'utf8').trim();
  await restoreBackup({
    ...{ folder, databaseFile: other.file, dataFolder: other.folder, now: NOW },
    ...{ mayReplace: true, keepQueue: false },
  });

  const restored = await reopen(other.file);
  expect(await secretsOf(restored)).toEqual(ALL);
  await restored.close();
  expect(readFileSync(join(other.folder, 'secrets.key'), 'utf8')).toContain(keyBefore);
});
