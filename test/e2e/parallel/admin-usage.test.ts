import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../../src/lib/logger.ts';
import { BASELINE } from '../../../src/store/sqlite/baseline.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { AdminFolders, adminIn, adminJson } from '../../support/server/admin.ts';
import { buildCall } from '../../support/store/build-call.ts';
import { addTalk } from '../../support/store/build-talk.ts';
import { foundIn } from '../../support/store/found-in.ts';
import { addAccount } from '../../support/store/test-store.ts';
import { FakeClock } from '../../support/time/fake-clock.ts';

const folders = new AdminFolders();

/** Of an installation whose server is stopped. */
const dataDir = folders.make();

beforeAll(async () => {
  const store = await openStore({
    file: join(dataDir, 'offhook.db'),
    clock: new FakeClock(Date.now()),
    log: silentLogger,
  });
  await addAccount(store, 'acct_1');
  for (const id of ['dlv_1', 'dlv_2']) await addFailedDelivery(store, id);
  await store.close();
});

afterAll(() => folders.remove());

async function addFailedDelivery(store: Store, id: string): Promise<void> {
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const now = new Date(Date.now() - 5000);
  const endpoint = {
    ...scope,
    id: `we_${id}`,
    url: 'https://receiver.example/',
    events: ['call.ended'] as const,
    description: '',
    status: 'active' as const,
    disabledReason: null,
    createdAt: now,
    updatedAt: now,
  };
  await store.webhookEndpoints.insert(endpoint);
  const kind = 'call.ended' as const;
  const event = { ...scope, id: `evt_${id}`, kind, callId: null, createdAt: now, body: '{}' };
  await store.events.insertQuiet(event);
  await store.deliveries.sendTo(endpoint.id, event, id, now);
  const attempt = {
    attempt: 1,
    at: now,
    durationMs: 3,
    statusCode: null,
    error: 'connection refused\u001b[31m',
    responseText: null,
    requestHeaders: null,
    responseHeaders: null,
  };
  const result = { deliveryId: id, attempt, isSuccess: false, nextAttemptAt: null };
  await store.outbox.record([result], now);
}

test('webhooks: lists what failed and sends it again', async () => {
  const failed = await adminJson(dataDir, ['webhooks', 'failed', '--since', '24h']);
  const table = await adminIn(dataDir, ['webhooks', 'failed', '--endpoint', 'we_dlv_2']);
  const none = await adminJson(dataDir, ['webhooks', 'failed', '--environment', 'test']);
  const one = await adminJson(dataDir, ['webhooks', 'resend', 'dlv_1']);
  const all = await adminJson(dataDir, ['webhooks', 'resend', '--all', '--since', '7d']);
  const later = await adminJson(dataDir, ['webhooks', 'resend', '--all']);

  expect(failed).toMatchObject([
    { id: 'dlv_2', attempts: 1, event: 'call.ended' },
    { id: 'dlv_1' },
  ]);
  expect(failed[0]).not.toHaveProperty('eventKind');
  expect(table.out).toMatch(/dlv_2 .*connection refused\[31m\n$/);
  expect(table.out).not.toContain('dlv_1');
  expect(none).toEqual([]);
  expect(one).toMatchObject({ id: 'dlv_1', status: 'pending', attempts: 0, event: 'call.ended' });
  expect([all.resent, later.resent]).toEqual([1, 0]);
});

test('trunk: says why a trunk of the database is left out', async () => {
  const store = await openStore({
    file: join(dataDir, 'offhook.db'),
    clock: new FakeClock(Date.now()),
    log: silentLogger,
  });
  const settings = { proxy: 'sip.example.com', colour: 'red' };
  const times = { createdAt: new Date(), updatedAt: new Date() };
  await store.storedTrunks.save({ name: 'later', settings, password: null, ...times });
  await store.close();

  const checked = await adminIn(dataDir, ['trunk', 'check', 'later']);
  const listed = await adminIn(dataDir, ['trunk', 'list']);

  const problem = /trunk "later": colour: unknown field/;
  expect([checked.status, listed.status]).toEqual([1, 0]);
  expect(checked.err).toMatch(problem);
  expect(listed.out).toMatch(problem);
});

test('number: gives a trunk’s number to an account, lists it and takes it back', async () => {
  const trunksFile = join(dataDir, 'trunks.json');
  const trunk = { name: 'acme', proxy: 'sip.example.com', numbers: ['+390612345678'] };
  writeFileSync(trunksFile, JSON.stringify([trunk]));
  const run = async (...words: string[]) =>
    JSON.parse((await adminIn(dataDir, [...words, '--json'], { SIP_TRUNKS: trunksFile })).out);

  const before = await run('number', 'list');
  const assigned = await run('number', 'assign', '+3906*');
  const during = await run('number', 'list');
  const back = await run('number', 'unassign', '+3906*');
  const odd = await adminIn(dataDir, ['number', 'assign', '0612']);

  const first = { number: '+390612345678', accountId: 'acct_1', trunks: ['acme'] };
  expect(before).toMatchObject([{ ...first, assignedBy: null, agentId: null }]);
  expect(assigned).toEqual({ number: '+3906*', accountId: 'acct_1' });
  expect(during).toMatchObject([{ number: '+3906*', assignedBy: 'operator' }, first]);
  expect(back).toEqual({ number: '+3906*', accountId: null });
  expect(odd).toMatchObject({ status: 1, out: '' });
  expect(odd.err).toContain('expected E.164');
});

/** A stopped installation with calls to erase, one of them old. @returns its folder. */
async function openWithCalls(): Promise<string> {
  const folder = folders.make();
  const file = join(folder, 'offhook.db');
  const clock = new FakeClock(Date.now());
  const store = Object.assign(await openStore({ file, clock, log: silentLogger }), {
    ...{ file, folder, clock },
  });
  await addAccount(store, 'acct_1');
  const old = new Date(Date.now() - 40 * 86_400_000);
  await addTalk(store, { id: 'call_1', from: '+390699887766' }, 'a private matter');
  await addTalk(
    store,
    { id: 'call_2', from: '+390699887766', environment: 'test' },
    'a private matter',
  );
  await addTalk(store, { id: 'call_3', startedAt: old }, 'an old matter');
  await addTalk(store, { id: 'call_4' }, 'the weather');
  const now = new Date();
  const live = { id: 'call_live', from: '+390699887766', startedAt: now, createdAt: now };
  await store.calls.insert(buildCall(live), []);
  await store.close();
  return folder;
}

test('erase: says what would go, erases it from the disk, and shows who erased what', async () => {
  const folder = await openWithCalls();
  const run = (...words: string[]) => adminJson(folder, ['erase', ...words]);
  await adminJson(folder, ['account', 'set', '--recordings-days', '7', '--calls-days', '30']);

  const dry = [
    await run('call', 'call_4', '--dry-run'),
    await run('number', '+390699887766', '--environment', 'live', '--dry-run'),
    await run('old', '--dry-run'),
  ];
  const untouched = await run('log');
  const number = await run('number', '+390699887766');
  const old = await run('old');
  const one = await run('call', 'call_4');
  const live = await adminIn(folder, ['erase', 'call', 'call_live']);
  const log = await run('log');

  const none = { recordings: 1, transcripts: 0 };
  expect(dry).toEqual([
    { calls: 1, recordings: 1 },
    { calls: 1, recordings: 1, callsInProgress: 1 },
    [{ accountId: 'acct_1', calls: 1, ...none }],
  ]);
  expect(untouched).toEqual([]);
  expect(number).toMatchObject({ calls: 2, recordings: 2, callsInProgress: 1 });
  expect(old).toEqual([{ accountId: 'acct_1', calls: 1, ...none }]);
  expect(one).toMatchObject({ calls: 1, recordings: 1 });
  expect(live).toMatchObject({ status: 1, out: '' });
  expect(live.err).toContain('it is not over');
  expect(log).toMatchObject([
    { kind: 'call', askedBy: 'admin', environment: 'live', calls: 1 },
    { kind: 'retention', environment: null, calls: 1, recordings: 1 },
    { kind: 'number', environment: null, calls: 2, finishedAt: null },
  ]);
  for (const text of ['a private matter', 'an old matter', 'the weather', 'call_4.wav']) {
    expect(foundIn(folder, text), text).toEqual([]);
  }
  expect(readdirSync(join(folder, 'recordings'))).toEqual([]);
});

test('account set: takes how long calls are kept, and shows it', async () => {
  const folder = await openWithCalls();
  const set = (...words: string[]) => adminJson(folder, ['account', 'set', ...words]);

  const first = await set('--recordings-days', '7', '--transcripts-days', '90');
  const second = await set('--recordings-days', 'keep', '--calls-days', '365');
  const { out } = await adminIn(folder, ['account', 'show']);

  const kept = { recordingsDays: 7, transcriptsDays: 90, callsDays: null };
  expect(first.retention).toEqual(kept);
  expect(second.retention).toEqual({ ...kept, recordingsDays: null, callsDays: 365 });
  expect(out).toContain('recordings for good, words 90 days, calls 365 days');
});

test('compact: rewrites the database, and restore warns of erased calls that are back', async () => {
  const folder = await openWithCalls();
  const backup = join(folders.make(), 'backup');
  await adminJson(folder, ['backup', backup]);
  await adminJson(folder, ['erase', 'call', 'call_1']);

  const compacted = await adminJson(folder, ['compact']);
  const elsewhere = await adminIn(folders.make(), ['restore', backup]);
  const informed = await adminIn(folders.make(), ['restore', backup, '--erasures', folder]);
  const here = await adminIn(folder, ['restore', backup, '--force']);

  expect(compacted.afterBytes).toBeGreaterThan(100_000);
  expect(elsewhere.out).toContain('calls that were erased since the backup are back');
  expect(informed.out).toContain('1 calls that were erased since are erased again');
  expect(informed.out).not.toContain('are back');
  expect(here.out).toContain('1 calls that were erased since are erased again');
});

test('an account need not be named where there is only one', async () => {
  const shown = await adminJson(dataDir, ['account', 'show']);
  const key = await adminJson(dataDir, ['key', 'create', '--environment', 'test', '--name', 'a']);

  expect(shown).toMatchObject({ id: 'acct_1' });
  expect(key).toMatchObject({ accountId: 'acct_1' });
});

/** A data folder with a database of the first version. */
function makeOld(): string {
  const old = folders.make();
  const sqlite = new Sqlite(join(old, 'offhook.db'));
  sqlite.exec(BASELINE);
  sqlite.pragma('user_version=18');
  sqlite.close();
  return old;
}

test('migrate brings an old database to this version, and --dry-run tells how first', async () => {
  const old = makeOld();

  const dry = await adminJson(old, ['migrate', '--dry-run']);
  const real = await adminJson(old, ['migrate']);
  const again = await adminIn(old, ['migrate']);

  expect((dry.migrations as string[])[0]).toMatch(/^0019-/);
  expect(real).toEqual(dry);
  expect(again.out).toContain('has the schema of this version already');
});

test('no other command changes the schema of a database that an older server may be working on', async () => {
  const old = makeOld();

  const list = await adminIn(old, ['account', 'list']);
  const dry = await adminJson(old, ['migrate', '--dry-run']);
  await adminIn(old, ['migrate']);
  const after = await adminIn(old, ['account', 'list']);

  expect(list).toMatchObject({ status: 1, out: '' });
  expect(list.err).toContain('"0019-agent-responsiveness"');
  expect(list.err).toContain('run "admin migrate"');
  const steps = dry.migrations as string[];
  expect(steps).toEqual([...steps].sort());
  expect(steps[0]).toBe('0019-agent-responsiveness');
  expect(after).toMatchObject({ status: 0, out: 'There are no accounts.\n' });
});

test.each([
  ['an unknown command', ['accounts'], 2, 'unknown command'],
  ['no command', [], 2, 'Usage'],
  ['an unknown option', ['key', 'list', '--all'], 2, 'unknown option'],
  ['a missing option', ['account', 'create'], 2, '--name'],
  ['an unknown plan', ['account', 'create', '--name', 'x', '--plan', 'gold'], 2, 'starter'],
  ['minutes in words', ['account', 'create', '--name', 'x', '--minutes', 'ten'], 2, 'whole number'],
  ['an unknown country', ['account', 'set', 'x', '--countries', 'Italy'], 2, 'ISO 3166'],
  ['nothing to change', ['account', 'set'], 2, 'Nothing to change'],
  ['a time that is none', ['webhooks', 'failed', '--since', 'monday'], 2, '2026-11-20'],
  ['no delivery', ['webhooks', 'resend'], 2, '--all'],
  ['an unknown account', ['account', 'show', 'acct_x'], 1, 'There is no account "acct_x"'],
  [
    'a period that is none',
    ['account', 'set', '--calls-days', 'year'],
    2,
    'Expected keep, or days',
  ],
  ['an unknown call', ['erase', 'call', 'call_x'], 1, 'There is no call "call_x"'],
  ['a name for a number', ['erase', 'number', 'Bob'], 1, 'expected a number as calls show it'],
  ['an unknown key', ['key', 'revoke', 'key_x'], 1, 'There is no key "key_x"'],
  ['an unknown delivery', ['webhooks', 'resend', 'dlv_x'], 1, 'There is no delivery "dlv_x"'],
  ['a folder that is no backup', ['restore', '/proc', '--force'], 1, 'no readable manifest.json'],
  ['a full backup folder', ['backup', '/proc'], 1, 'not an empty folder'],
])('%s ends with its own exit status and says why', async (_case, words, status, why) => {
  const ended = await adminIn(dataDir, words);

  expect(ended).toMatchObject({ status, out: '' });
  expect(ended.err).toContain(why);
  expect(ended.err).not.toContain('at file:');
});

test('wrong settings end with 78, and a data folder without a database is said', async () => {
  const wrong = await adminIn(dataDir, ['account', 'list'], { SIP_PORT: 'many' });
  const empty = await adminIn(folders.make(), ['account', 'list']);

  expect(wrong.status).toBe(78);
  expect(wrong.err).toContain('SIP_PORT');
  expect(empty.status).toBe(1);
  expect(empty.err).toContain('There is no database at');
});

test('package.json has the command, as the manual says', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

  expect(scripts.admin).toMatch(/&& node dist\/server\/admin\.js$/);
});
