/** A database of before there were users: its one password is the first admin's. */
import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { PasswordHasher } from '../../src/operator/password-hasher.ts';
import { openStore } from '../../src/store/store.ts';
import { openTestApi } from '../support/api/test-api.ts';
import {
  Browser,
  openDashboard,
  PASSWORD,
  routesOf,
} from '../support/dashboard/dashboard-world.ts';
import { openTestStore } from '../support/store/test-store.ts';

/** Takes the step and those after it back, as a database of the version before has it, with that password. */
function withoutUsers(file: string, record: string | undefined): void {
  const sqlite = new Sqlite(file);
  const later = ['quarter_hours', 'answer_times', 'call_costs', 'agent_drafts'];
  for (const table of ['users', 'invites', 'audit_log', ...later]) {
    sqlite.exec(`drop table ${table}`);
  }
  for (const column of [
    'calls drop column price',
    'calls drop column cost',
    'open_dialogs drop column price',
    'open_dialogs drop column peer',
  ]) {
    sqlite.exec(`alter table ${column}`);
  }
  sqlite.exec('alter table webhook_endpoints drop column last_attempt');
  for (const table of ['agents', 'agent_versions']) {
    sqlite.exec(`alter table ${table} drop column model`);
  }
  for (const column of ['request_headers', 'response_headers']) {
    sqlite.exec(`alter table webhook_attempts drop column ${column}`);
  }
  if (record !== undefined) {
    sqlite.prepare("insert into secrets (name, value) values ('operator-password', ?)").run(record);
  }
  sqlite.pragma('user_version=30');
  sqlite.close();
}

async function migrated(record: string | undefined) {
  const before = await openTestStore();
  await before.close();
  withoutUsers(before.file, record);
  const store = await openStore({ file: before.file, clock: before.clock, log: silentLogger });
  onTestFinished(() => store.close());
  return store;
}

test('The password of the version before signs in as the first admin', async () => {
  const hasher = new PasswordHasher({ random: randomBytes, costLog2: 4 });

  const store = await migrated(await hasher.record(PASSWORD));

  const users = await store.users.list();
  expect(users).toMatchObject([
    { id: expect.stringMatching(/^usr_\w{24}$/), name: 'admin', role: 'admin', lastSignInAt: null },
  ]);
  expect(await store.secrets.find('operator-password')).toBeUndefined();
  const api = await openTestApi((own) =>
    routesOf(openDashboard(Object.assign(own, { users: store.users }))),
  );
  const { status, body } = await new Browser(api).logIn(PASSWORD);
  expect([status, body.user.role]).toEqual([200, 'admin']);
});

test('A database without a password gets no user', async () => {
  const store = await migrated(undefined);

  expect(await store.users.list()).toEqual([]);
});
