import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { DEFAULT_AGENT_SETTINGS } from '../../src/domain/agent/agent.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { BASELINE } from '../../src/store/sqlite/baseline.ts';
import { openStore } from '../../src/store/store.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore, testFolder } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const parts = { clock: new FakeClock(), log: silentLogger };

test('openStore makes folder and file for its owner only', async () => {
  const file = join(testFolder(), 'deep', 'offhook.db');

  const store = await openStore({ file, ...parts });

  expect(statSync(file).mode & 0o077).toBe(0);
  await store.close();
});

test('openStore takes the access of others to a database and its log away', async () => {
  const { file } = await openTestStore();
  const files = [file, `${file}-wal`, `${file}-shm`];
  for (const path of files) chmodSync(path, 0o644);

  const again = await openStore({ file, ...parts });

  expect(files.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  await again.close();
});

test('openStore opens a database again as it was left', async () => {
  const { file, accounts } = await openTestStore();

  const again = await openStore({ file, ...parts });

  expect(await again.accounts.find('acct_1')).toEqual(await accounts.find('acct_1'));
  await again.close();
});

test('openStore keeps what is committed when the process dies: WAL, and foreign keys that hold', async () => {
  const { file, calls } = await openTestStore();

  const entry = { role: 'user', text: 'hello', at: new Date() } as const;
  const mode = new Sqlite(file, { readonly: true }).pragma('journal_mode', { simple: true });

  expect(mode).toBe('wal');
  await expect(calls.addTranscriptEntry('call_unknown', entry)).rejects.toThrow('FOREIGN KEY');
});

test('openStore refuses a network file system, naming the folder', async () => {
  const folder = testFolder();

  const open = openStore({
    file: join(folder, 'offhook.db'),
    ...parts,
    fileSystemTypeOf: () => 0x6969,
  });

  await expect(open).rejects.toThrow(
    `Cannot keep the database in "${folder}": it is on NFS, and SQLite needs a local disk`,
  );
});

test('openStore refuses a CIFS magic that the kernel gives as a negative word', async () => {
  const open = openStore({
    file: join(testFolder(), 'offhook.db'),
    ...parts,
    fileSystemTypeOf: () => 0xff534d42 - 2 ** 32,
  });

  await expect(open).rejects.toThrow('it is on CIFS');
});

test('openStore refuses a file that is no database, naming it', async () => {
  const file = join(testFolder(), 'offhook.db');
  writeFileSync(file, 'this is not a database, however long one looks at it'.repeat(100));

  const open = openStore({ file, ...parts });

  await expect(open).rejects.toThrow(`Cannot use the database "${file}"`);
});

test('openStore refuses a folder in the place of the file, naming it', async () => {
  const file = join(testFolder(), 'offhook.db');
  mkdirSync(file);

  await expect(openStore({ file, ...parts })).rejects.toThrow(`Cannot open the database "${file}"`);
});

test('openStore refuses a database of a newer version', async () => {
  const { file } = await openTestStore();
  const sqlite = new Sqlite(file);
  sqlite.pragma('user_version=9999');
  sqlite.close();

  await expect(openStore({ file, ...parts })).rejects.toThrow(
    'it was written by a newer version of Offhook (schema 9999)',
  );
});

/** A database from before 0.1.0 whose newest step has that name. */
function makeByKysely(newest: string): string {
  const file = join(testFolder(), 'offhook.db');
  const sqlite = new Sqlite(file);
  sqlite.exec(BASELINE);
  sqlite.exec('create table kysely_migration (name text primary key, timestamp text)');
  sqlite
    .prepare("insert into kysely_migration values ('0001-first', 'then'), (?, 'now')")
    .run(newest);
  sqlite.close();
  return file;
}

test('openStore goes on from the steps that Kysely noted in a database from before 0.1.0', async () => {
  const file = makeByKysely('0018-call-failures');

  await (await openStore({ file, ...parts })).close();
  const again = await openStore({ file, ...parts, mayMigrate: false });

  expect(await again.accounts.count()).toBe(0);
  await again.close();
});

test('openStore takes the responsiveness of agents and their versions out of their settings', async () => {
  const file = makeByKysely('0018-call-failures');
  const sqlite = new Sqlite(file);
  sqlite.exec(`
    insert into accounts (id, name, plan, minutes_included, transfer_targets, created_at)
      values ('acc_1', 'One', 'starter', 1, '[]', 1);
    insert into agents values ('agent_1', 'acc_1', 'live', 'A', 'Hello', 'Be brief', 'v', 'en', null, '[]',
      '{"responsiveness":"patient"}', 'active', 1, 1);
    insert into agent_versions values ('agent_1', 1, 1, 'api', '[]', 'A', 'Hello', 'Be brief', 'v', 'en', null, '[]',
      '{"responsiveness":"fast"}', 'active');`);
  sqlite.close();

  const store = await openStore({ file, ...parts });
  const scope = { accountId: 'acc_1', environment: 'live' } as const;
  const agent = await store.agents.find(scope, 'agent_1');
  const version = await store.agentVersions.find(scope, 'agent_1', 1);

  expect(agent).toMatchObject({ responsiveness: 'patient', settings: DEFAULT_AGENT_SETTINGS });
  expect(agent?.settings).not.toHaveProperty('responsiveness');
  expect(version?.agent.responsiveness).toBe('fast');
  await store.close();
});

test('openStore refuses a database from before 0.1.0 that is too old, and leaves it as it is', async () => {
  const file = makeByKysely('0013-open-invites');

  await expect(openStore({ file, ...parts })).rejects.toThrow('(step "0013-open-invites")');
  await expect(openStore({ file, ...parts })).rejects.toThrow('(step "0013-open-invites")');
});

test('Store says locked, as a StoreError, when another process holds the write lock', async () => {
  const store = await openTestStore();
  const other = new Sqlite(store.file);
  other.exec('begin immediate');

  const probe = () => store.probe();

  await expect(probe()).rejects.toThrow(
    expect.objectContaining({ name: 'StoreError', reason: 'locked' }),
  );
  other.close();
  await probe();
});

test('Store closes twice without complaint', async () => {
  const store = await openTestStore();

  await store.close();

  await store.close();
});

test('Store refreshes statistics every day and stops when closed', async () => {
  const store = await openTestStore();

  store.clock.advance(3 * 86_400_000);
  const waitingWhileOpen = store.clock.waiting;
  await store.close();

  expect([waitingWhileOpen, store.clock.waiting]).toEqual([1, 0]);
});

describe('transaction', () => {
  const queued = buildCall({ status: 'queued', startedAt: null });

  test('undoes what all stores wrote when its work throws', async () => {
    const store = await openTestStore();
    const agent = buildAgent();

    const run = store.transaction(async ({ agents, calls }) => {
      await agents.insert(agent);
      await calls.insert(queued, []);
      throw new Error('no room');
    });

    await expect(run).rejects.toThrow('no room');
    expect(await store.calls.findById(queued.id)).toBeUndefined();
    expect(await store.agents.find(agent, agent.id)).toBeUndefined();
  });

  test('gives what its work gives, and keeps what it wrote', async () => {
    const store = await openTestStore();

    const count = await store.transaction(async ({ calls }) => {
      await calls.insert(queued, []);
      return calls.countQueued('live', queued.direction);
    });

    expect(count).toBe(1);
    expect(await store.calls.findById(queued.id)).toEqual(queued);
  });

  test('lets no other process write between its reads and its writes', async () => {
    const store = await openTestStore();
    const other = new Sqlite(store.file, { timeout: 0 });

    const write = () => other.exec('update accounts set plan = plan');
    await store.transaction(async ({ calls }) => {
      expect(write).toThrow('database is locked');
      await calls.insert(queued, []);
    });

    expect(write).not.toThrow();
    other.close();
  });

  test('hides what it writes from other queries, which wait for its end', async () => {
    const store = await openTestStore();
    const order: string[] = [];

    const writing = await store.transaction(async ({ calls }) => {
      await calls.insert(queued, []);
      order.push('written');
    });
    const found = await store.calls.findById(queued.id);
    order.push('read');
    await writing;

    expect(order).toEqual(['written', 'read']);
    expect(found).toEqual(queued);
  });

  test('runs one after the other, in the order of the calls', async () => {
    const store = await openTestStore();
    const order: string[] = [];
    const write = (name: string) =>
      store.transaction(async ({ accounts }) => {
        order.push(`${name} begins`);
        await accounts.list();
        order.push(`${name} ends`);
      });

    await Promise.all([write('first'), write('second')]);

    expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });

  test('is rolled back when it waits for something else than its own queries', async () => {
    const store = await openTestStore();

    const stuck = store.transaction(async ({ calls }) => {
      await calls.insert(queued, []);
      await store.accounts.list();
    });

    await expect(stuck).rejects.toThrow('it waits for something that is no query of its own');
    expect(await store.calls.findById(queued.id)).toBeUndefined();
  });

  test('notifies of what it wrote once it is committed, and never where it is undone', async () => {
    const store = await openTestStore();
    const rung: string[] = [];
    store.calls.queueNotifier.listen(() => rung.push('queue'));
    const insert = (fails: boolean) =>
      store.transaction(async ({ calls }) => {
        await calls.insert(queued, []);
        rung.push('inserted');
        if (fails) throw new Error('undone');
      });

    await expect(insert(true)).rejects.toThrow('undone');
    await insert(false);

    expect(rung).toEqual(['inserted', 'inserted', 'queue']);
  });
});
