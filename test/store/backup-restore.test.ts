import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { newCampaign } from '../../src/domain/campaign/new-campaign.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { makeBackup, sha256Of } from '../../src/store/backup/backup.ts';
import { restoreBackup } from '../../src/store/backup/backup-restore.ts';
import { openStore } from '../../src/store/store.ts';
import { buildDialog } from '../support/sip/build-dialog.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import {
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
  testFolder,
} from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SCOPE } from '../support/webhook/webhook-world.ts';

const NOW = new Date(STORE_NOW_MS);

const RESTORED_AT = new Date(STORE_NOW_MS + 3_600_000);

function backUp(store: TestStore, folder: string) {
  const { file: databaseFile, folder: dataFolder } = store;
  const where = { databaseFile, dataFolder, folder, recordings: 'copy' as const };
  return makeBackup({ ...where, version: '0.0.0', now: NOW });
}

function restoreTo(dataFolder: string, folder: string, { keepQueue = false } = {}) {
  const databaseFile = join(dataFolder, 'offhook.db');
  const where = { folder, databaseFile, dataFolder };
  return restoreBackup({ ...where, mayReplace: true, keepQueue, now: RESTORED_AT });
}

async function openRestored(dataFolder: string) {
  const file = join(dataFolder, 'offhook.db');
  const store = await openStore({ file, clock: new FakeClock(STORE_NOW_MS), log: silentLogger });
  onTestFinished(() => store.close());
  return store;
}

/** A backup with two live calls and one of the sandbox that wait to be dialled. */
async function backUpQueue(): Promise<string> {
  const store = await openTestStore();
  const queued = { direction: 'outbound', status: 'queued', startedAt: null } as const;
  for (const id of ['call_1', 'call_2']) await store.calls.insert(buildCall({ ...queued, id }), []);
  await store.calls.insert(buildCall({ ...queued, id: 'call_test', environment: 'test' }), []);
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  return folder;
}

test('restoreBackup ends live calls that waited to be dialled, and tells their customers', async () => {
  const folder = await backUpQueue();
  const dataFolder = testFolder();

  const { callsEnded } = await restoreTo(dataFolder, folder);

  const { calls, events } = await openRestored(dataFolder);
  expect(callsEnded).toBe(2);
  expect(await calls.countQueued('live', 'outbound')).toBe(0);
  expect(await calls.countQueued('test', 'outbound')).toBe(1);
  expect(await calls.findById('call_1')).toMatchObject({
    status: 'failed',
    endReason: 'error',
    endedAt: RESTORED_AT,
    answeredAt: null,
  });
  const page = { limit: 9, offset: 0 };
  expect((await calls.list(SCOPE, { ...page, status: 'failed' })).total).toBe(2);
  expect((await calls.list(SCOPE, { ...page, status: 'queued' })).total).toBe(0);
  expect(await events.listByCall('call_1')).toMatchObject([
    { kind: 'call.ended', createdAt: RESTORED_AT },
  ]);
});

test('restoreBackup leaves waiting calls in the queue when asked to', async () => {
  const folder = await backUpQueue();
  const dataFolder = testFolder();

  const { callsEnded } = await restoreTo(dataFolder, folder, { keepQueue: true });

  const { calls } = await openRestored(dataFolder);
  expect(callsEnded).toBe(0);
  expect(await calls.countQueued('live', 'outbound')).toBe(2);
});

test('restoreBackup forgets open dialogs: the calls may go on at the server that the backup is of', async () => {
  const store = await openTestStore();
  await store.dialogs.save(buildDialog());
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  const dataFolder = testFolder();

  await restoreTo(dataFolder, folder, { keepQueue: true });

  expect(await (await openRestored(dataFolder)).dialogs.all()).toEqual([]);
});

test('restoreBackup brings the old log into the old database before it renames either', async () => {
  const store = await openTestStore();
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  await store.calls.insert(buildCall(), []);

  const { keptAs } = await restoreTo(store.folder, folder);

  const alone = join(testFolder(), 'alone.db');
  copyFileSync(keptAs ?? '', alone);
  const sqlite = new Sqlite(alone);
  const calls = sqlite.prepare('select count(*) from calls').pluck().get();
  sqlite.close();
  expect(calls).toBe(1);
});

test('restoreBackup leaves nothing in the data folder but what is in use', async () => {
  const folder = await backUpQueue();
  const dataFolder = testFolder();

  await restoreTo(dataFolder, folder);

  expect(readdirSync(dataFolder)).toEqual(['offhook.db', 'offhook.db.lock', 'secrets.key']);
});

test('restoreBackup replaces a database that is damaged', async () => {
  const store = await openTestStore();
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  const dataFolder = testFolder();
  writeFileSync(join(dataFolder, 'offhook.db'), 'no database');

  const { keptAs } = await restoreTo(dataFolder, folder);

  expect(readFileSync(keptAs ?? '', 'utf8')).toBe('no database');
  expect(await (await openRestored(dataFolder)).accounts.list()).toHaveLength(1);
});

test.each([
  'offhook.db',
  'recordings/../offhook.db',
  '/etc/passwd',
])('restoreBackup writes no recording over "%s"', async (recordingFile) => {
  const store = await openTestStore();
  await store.calls.insert(buildCall(), []);
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  await craft(folder, recordingFile);
  const dataFolder = testFolder();
  writeFileSync(join(dataFolder, 'offhook.db'), 'mine');

  await expect(restoreTo(dataFolder, folder)).rejects.toThrow('outside the folder of recordings');

  expect(readFileSync(join(dataFolder, 'offhook.db'), 'utf8')).toBe('mine');
});

/** Lets a call of the backup name that file as its recording, and the manifest agree. */
async function craft(folder: string, recordingFile: string): Promise<void> {
  const file = join(folder, 'offhook.db');
  const sqlite = new Sqlite(file);
  sqlite.prepare('update calls set recording_file = ?').run(recordingFile);
  sqlite.close();
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.database.sha256 = await sha256Of(file);
  writeFileSync(path, JSON.stringify(manifest));
}

test('makeBackup deletes nothing that came into its folder while it worked', async () => {
  const store = await openTestStore();
  const parent = testFolder();
  const folder = join(parent, 'backup');
  mkdirSync(folder);

  const saving = backUp(store, folder);
  writeFileSync(join(folder, 'mine.txt'), 'mine');

  await expect(saving).rejects.toThrow('not an empty folder');
  expect(readdirSync(parent)).toEqual(['backup']);
  expect(readdirSync(folder)).toEqual(['mine.txt']);
});

test('makeBackup takes a folder that is there and empty', async () => {
  const store = await openTestStore();
  const folder = testFolder();

  await backUp(store, folder);

  expect(existsSync(join(folder, 'manifest.json'))).toBe(true);
});

test.each([
  ['pauses live campaigns, which may have called since', false, 'paused'],
  ['lets live campaigns run on where the queue is kept', true, 'running'],
])('restoreBackup %s', async (_what, keepQueue, status) => {
  const store = await openTestStore();
  for (const environment of ['live', 'test'] as const) {
    const draft = { name: 'Recall', csv: 'to\n+390612345678', callsPerMinute: 10 };
    const facts = { id: `camp_${environment}`, agent: buildAgent({ environment }), now: NOW };
    const made = newCampaign({ ...draft, maxConcurrentCalls: 5 }, facts);
    await store.campaigns.insert(made.campaign, made.contacts);
  }
  const folder = join(testFolder(), 'backup');
  await backUp(store, folder);
  const dataFolder = testFolder();

  await restoreTo(dataFolder, folder, { keepQueue });

  const { campaigns } = await openRestored(dataFolder);
  expect((await campaigns.findById('camp_live'))?.status).toBe(status);
  expect((await campaigns.findById('camp_test'))?.status).toBe('running');
  expect((await campaigns.counts('camp_live')).pending).toBe(1);
});
