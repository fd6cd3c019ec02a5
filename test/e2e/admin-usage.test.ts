import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { up } from '../../src/store/migrations/m0001-accounts-agents-calls.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { AdminFolders, adminIn, adminJson } from '../support/admin.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { addAccount } from '../support/test-store.ts';

const folders = new AdminFolders();

/** Of an installation whose server is stopped. */
const dataDir = folders.make();

beforeAll(async () => {
  const store = await openStore({
    file: join(dataDir, 'offhook.db'),
    clock: new FakeClock(Date.now()),
    log: silentLogger,
  });
  addAccount(store, 'acct_1');
  for (const id of ['dlv_1', 'dlv_2']) addFailedDelivery(store, id);
  store.close();
});

afterAll(() => folders.remove());

function addFailedDelivery(store: Store, id: string): void {
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
  store.webhookEndpoints.insert(endpoint);
  const kind = 'call.ended' as const;
  const event = { ...scope, id: `evt_${id}`, kind, callId: null, createdAt: now, body: '{}' };
  store.events.insertQuiet(event);
  store.deliveries.sendTo(endpoint.id, event, id, now);
  const attempt = {
    attempt: 1,
    at: now,
    durationMs: 3,
    statusCode: null,
    error: 'connection refused\u001b[31m',
    responseText: null,
  };
  const result = { deliveryId: id, attempt, isSuccess: false, nextAttemptAt: null };
  store.outbox.record([result], now);
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

test('an account need not be named where there is only one', async () => {
  const shown = await adminJson(dataDir, ['account', 'show']);
  const key = await adminJson(dataDir, ['key', 'create', '--environment', 'test', '--name', 'a']);

  expect(shown).toMatchObject({ id: 'acct_1' });
  expect(key).toMatchObject({ accountId: 'acct_1' });
});

/** A data folder with a database of the first version. */
async function makeOld(): Promise<string> {
  const old = folders.make();
  const sqlite = new Sqlite(join(old, 'offhook.db'));
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: new SqliteDialect({ database: sqlite }) }),
    provider: { getMigrations: async () => ({ '0001-accounts-agents-calls': { up } }) },
  });
  await migrator.migrateToLatest();
  sqlite.close();
  return old;
}

test('migrate brings an old database to this version, and --dry-run tells how first', async () => {
  const old = await makeOld();

  const dry = await adminJson(old, ['migrate', '--dry-run']);
  const real = await adminJson(old, ['migrate']);
  const again = await adminIn(old, ['migrate']);

  expect((dry.migrations as string[])[0]).toMatch(/^0002-/);
  expect(real).toEqual(dry);
  expect(again.out).toContain('has the schema of this version already');
});

test('no other command changes the schema of a database that an older server may be working on', async () => {
  const old = await makeOld();

  const list = await adminIn(old, ['account', 'list']);
  const dry = await adminJson(old, ['migrate', '--dry-run']);
  await adminIn(old, ['migrate']);
  const after = await adminIn(old, ['account', 'list']);

  expect(list).toMatchObject({ status: 1, out: '' });
  expect(list.err).toContain('"0002-delivery-usage-requests"');
  expect(list.err).toContain('run "admin migrate"');
  const steps = dry.migrations as string[];
  expect(steps).toEqual([...steps].sort());
  expect(steps.slice(0, 2)).toEqual(['0002-delivery-usage-requests', '0003-open-dialogs']);
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

  expect(scripts.admin).toBe('NODE_COMPILE_CACHE=node_modules/.cache/compiled node src/admin.ts');
});
