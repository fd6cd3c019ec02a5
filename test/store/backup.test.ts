import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { makeBackup, type RecordingMode } from '../../src/store/backup/backup.ts';
import { DatabasePresentError, restoreBackup } from '../../src/store/backup/backup-restore.ts';
import { DatabaseInUseError, lockDatabase } from '../../src/store/sqlite/sqlite-file.ts';
import { openStore } from '../../src/store/store.ts';
import { buildCall } from '../support/store/build-call.ts';
import { fill, mounted, skipWithoutMount } from '../support/store/small-disk.ts';
import {
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
  testFolder,
} from '../support/store/test-store.ts';

const NOW = new Date(STORE_NOW_MS);

/** Adds a call whose recording has these bytes; null leaves the file out. */
async function addRecorded(
  store: TestStore,
  id: string,
  bytes: string | null,
  fields: Partial<Call> = {},
) {
  const recordingFile = `recordings/${id}.wav`;
  await store.calls.insert(
    buildCall({ id, status: 'completed', endedAt: NOW, recordingFile, ...fields }),
    [],
  );
  mkdirSync(join(store.folder, 'recordings'), { recursive: true });
  if (bytes !== null) writeFileSync(join(store.folder, recordingFile), bytes);
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

function backUp(store: TestStore, folder: string, recordings: RecordingMode = 'copy') {
  const { file: databaseFile, folder: dataFolder } = store;
  return makeBackup({ databaseFile, dataFolder, folder, recordings, version: '0.0.0', now: NOW });
}

function restoreTo(dataFolder: string, folder: string, mayReplace = false) {
  const databaseFile = join(dataFolder, 'offhook.db');
  const options = { folder, databaseFile, dataFolder, mayReplace };
  return restoreBackup({ ...options, keepQueue: false, now: NOW });
}

async function callsIn(dataFolder: string): Promise<number> {
  const file = join(dataFolder, 'offhook.db');
  const store = await openStore({ file, clock: CLOCK, log: silentLogger });
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const { total } = await store.calls.list(scope, { limit: 1, offset: 0 });
  await store.close();
  return total;
}

const CLOCK = { nowMs: () => STORE_NOW_MS, now: () => NOW, after: () => () => undefined };

test('makeBackup and restoreBackup carry database and recordings into another folder', async () => {
  const store = await openTestStore();
  await addRecorded(store, 'call_1', 'one');
  await addRecorded(store, 'call_2', null);
  const folder = join(testFolder(), 'deep', 'backup');
  const dataFolder = join(testFolder(), 'data');

  const manifest = await backUp(store, folder);
  const restored = await restoreTo(dataFolder, folder);

  expect(manifest).toMatchObject({
    format: 1,
    createdAt: NOW.toISOString(),
    counts: { accounts: 1, calls: 2 },
    recordings: { included: true, files: 1, sizeBytes: 3, missing: 1 },
  });
  expect(restored).toMatchObject({ keptAs: null, migrations: [], recordings: { files: 1 } });
  expect(await callsIn(dataFolder)).toBe(2);
  expect(readFileSync(join(dataFolder, 'recordings/call_1.wav'), 'utf8')).toBe('one');
});

test('makeBackup gives a database of one file that only its owner may read', async () => {
  const store = await openTestStore();
  const folder = join(testFolder(), 'backup');

  await backUp(store, folder);

  expect(readdirSync(folder).sort()).toEqual(['manifest.json', 'offhook.db', 'secrets.key']);
  expect(statSync(join(folder, 'offhook.db')).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('restoreBackup leaves recordings to their owner, whatever their mode in the backup', async () => {
  const store = await openTestStore();
  await addRecorded(store, 'call_1', 'sound');
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  chmodSync(join(folder, 'recordings/call_1.wav'), 0o644);
  const dataFolder = testFolder();
  mkdirSync(join(dataFolder, 'recordings'));
  chmodSync(join(dataFolder, 'recordings'), 0o755);

  await restoreTo(dataFolder, folder);

  expect(modeOf(join(dataFolder, 'recordings'))).toBe(0o700);
  expect(modeOf(join(dataFolder, 'recordings/call_1.wav'))).toBe(0o600);
});

test.each([
  'copy',
  'link',
] as const)('makeBackup leaves recordings and new folders to their owner (%s)', async (mode) => {
  const store = await openTestStore();
  await addRecorded(store, 'call_1', 'sound');
  chmodSync(join(store.folder, 'recordings/call_1.wav'), 0o644);
  const folder = join(testFolder(), 'backups', 'today');

  await backUp(store, folder, mode);

  expect([dirname(folder), folder, join(folder, 'recordings')].map(modeOf)).toEqual([
    0o700, 0o700, 0o700,
  ]);
  expect(modeOf(join(folder, 'recordings/call_1.wav'))).toBe(0o600);
});

/** Writes pairs of secrets as fast as it can, until it is ended. */
const WRITER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const sqlite = new (require('better-sqlite3'))(workerData);
  const insert = sqlite.prepare('insert into secrets values (?, ?)');
  const pair = sqlite.transaction((name) => { insert.run(name + 'a', ''); insert.run(name + 'b', ''); });
  let pairs = 0;
  setInterval(() => { pair(String(pairs)); pairs += 1; parentPort.postMessage(pairs); }, 1);`;

test('makeBackup saves one moment, whatever is written meanwhile', async () => {
  const store = await openTestStore();
  const padding = { note: 'x'.repeat(4000) };
  for (let index = 0; index < 1000; index += 1) {
    await store.calls.insert(buildCall({ id: `call_${index}`, metadata: padding }), []);
  }
  const folder = join(testFolder(), 'backup');
  const writer = new Worker(WRITER, { eval: true, workerData: store.file });
  onTestFinished(() => void writer.terminate());
  let pairs = 0;
  writer.on('message', (count: number) => {
    pairs = count;
  });
  await vi.waitFor(() => expect(pairs).toBeGreaterThan(2), { timeout: 10_000 });

  const before = pairs;
  const manifest = await backUp(store, folder);
  await vi.waitFor(() => expect(pairs).toBeGreaterThan(before), { timeout: 10_000 });

  const copy = new Sqlite(join(folder, 'offhook.db'), { readonly: true });
  const secrets = Number(copy.prepare('select count(*) from secrets').pluck().get());
  copy.close();
  expect(secrets % 2).toBe(0);
  expect(secrets / 2).toBeGreaterThanOrEqual(before);
  expect(manifest.counts.calls).toBe(1000);
});

test('makeBackup refuses a folder that holds something, and leaves it alone', async () => {
  const store = await openTestStore();
  const folder = testFolder();
  writeFileSync(join(folder, 'mine.txt'), 'mine');

  await expect(backUp(store, folder)).rejects.toThrow('not an empty folder');

  expect(readdirSync(folder)).toEqual(['mine.txt']);
});

test('makeBackup names the folder when it cannot be made', async () => {
  const store = await openTestStore();
  const folder = join(store.file, 'backup');

  const made = backUp(store, folder);

  await expect(made).rejects.toThrow(`Cannot back up to "${folder}": ENOTDIR`);
});

test('makeBackup names the folder when its disk is full', async (context) => {
  skipWithoutMount(context, 'tmpfs');
  const store = await openTestStore();
  const disk = mounted({ type: 'tmpfs', sizeMiB: 1 });
  fill(disk);
  const folder = join(disk, 'backup');

  const made = backUp(store, folder);

  await expect(made).rejects.toThrow(`Cannot back up to "${folder}": its disk is full`);
});

test('makeBackup leaves nothing behind when it fails', async () => {
  const store = await openTestStore();
  await addRecorded(store, 'call_1', 'one', { recordingFile: '../../etc/passwd' });
  const parent = testFolder();

  await expect(backUp(store, join(parent, 'backup'))).rejects.toThrow('outside the folder of');

  expect(readdirSync(parent)).toEqual([]);
});

test('makeBackup links recordings that are over, and copies those still being written', async () => {
  const store = await openTestStore();
  await addRecorded(store, 'call_1', 'one');
  await addRecorded(store, 'call_2', 'two', { status: 'in_progress', endedAt: null });
  const folder = join(testFolder(), 'backup');

  await backUp(store, folder, 'link');

  const inode = (base: string, id: string) => statSync(join(base, `recordings/${id}.wav`)).ino;
  expect(inode(folder, 'call_1')).toBe(inode(store.folder, 'call_1'));
  expect(inode(folder, 'call_2')).not.toBe(inode(store.folder, 'call_2'));
});

test('restoreBackup names the database when its disk is full, and leaves no half-made file', async (context) => {
  skipWithoutMount(context, 'tmpfs');
  const store = await openTestStore();
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  const disk = mounted({ type: 'tmpfs', sizeMiB: 1 });
  fill(disk);

  const restored = restoreTo(disk, folder);

  await expect(restored).rejects.toThrow(
    `Cannot restore to "${disk}/offhook.db": its disk is full`,
  );
  expect(readdirSync(disk)).toEqual(['ballast', 'offhook.db.lock']);
});

test('restoreBackup does not write through a link that another backup shares', async () => {
  const store = await openTestStore();
  await addRecorded(store, 'call_1', 'one');
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  const dataFolder = testFolder();
  mkdirSync(join(dataFolder, 'recordings'));
  const shared = join(dataFolder, 'shared.wav');
  writeFileSync(shared, 'other');
  linkSync(shared, join(dataFolder, 'recordings/call_1.wav'));

  await restoreTo(dataFolder, folder);

  expect(readFileSync(join(dataFolder, 'recordings/call_1.wav'), 'utf8')).toBe('one');
  expect(readFileSync(shared, 'utf8')).toBe('other');
});

test('restoreBackup keeps the database from before, with what its log holds', async () => {
  const store = await openTestStore();
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  await store.calls.insert(buildCall(), []);

  const refused = restoreTo(store.folder, folder);
  await expect(refused).rejects.toThrow(DatabasePresentError);
  const { keptAs } = await restoreTo(store.folder, folder, true);
  const again = await restoreTo(store.folder, folder, true);

  const old = new Sqlite(keptAs ?? '', { readonly: true });
  expect(old.prepare('select count(*) from calls').pluck().get()).toBe(1);
  old.close();
  expect(keptAs).toBe(`${store.file}.before-restore`);
  expect(again.keptAs).toBe(`${store.file}.before-restore-2`);
  expect(await callsIn(store.folder)).toBe(0);
});

test('restoreBackup refuses while a server works on the database, and changes nothing', async () => {
  const store = await openTestStore();
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  await store.calls.insert(buildCall(), []);
  const lock = lockDatabase(store.file);

  await expect(restoreTo(store.folder, folder, true)).rejects.toThrow(DatabaseInUseError);
  lock.release();

  expect(await callsIn(store.folder)).toBe(1);
});

test.each([
  ['a changed database', (folder: string) => flipByte(join(folder, 'offhook.db')), 'SHA-256'],
  [
    'no manifest',
    (folder: string) => writeFileSync(join(folder, 'manifest.json'), '{'),
    'manifest',
  ],
])('restoreBackup refuses a backup with %s, and changes nothing', async (_case, damage, why) => {
  const store = await openTestStore();
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  damage(folder);
  const dataFolder = testFolder();

  await expect(restoreTo(dataFolder, folder)).rejects.toThrow(why);

  expect(existsSync(join(dataFolder, 'offhook.db'))).toBe(false);
});

test('restoreBackup refuses a backup of a newer version, and leaves no half-made file', async () => {
  const store = await openTestStore();
  const sqlite = new Sqlite(store.file);
  sqlite.pragma('user_version=9999');
  sqlite.close();
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  const dataFolder = testFolder();

  await expect(restoreTo(dataFolder, folder)).rejects.toThrow('newer version');

  expect(readdirSync(dataFolder)).toEqual(['offhook.db.lock']);
});

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[5000] = (bytes[5000] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
