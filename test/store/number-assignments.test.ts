import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { up } from '../../src/store/migrations/m0009-number-assignments.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { addAccount, openTestStore } from '../support/store/test-store.ts';

test('NumberAssignments keeps one a number, and forgets', async () => {
  const store = await openTestStore();
  const { numberAssignments } = store;
  await addAccount(store, 'acct_2');
  const first = {
    ...{ number: '+39*', accountId: 'acct_1', assignedAt: new Date(1000) },
    assignedBy: 'upgrade' as const,
  };
  const second = { ...first, number: '+390612345678' };

  for (const one of [second, first]) await numberAssignments.save(one);
  await numberAssignments.save({ ...first, accountId: 'acct_2', assignedBy: 'operator' });

  const changed = { ...first, accountId: 'acct_2', assignedBy: 'operator' };
  expect(await numberAssignments.list()).toEqual([changed, second]);
  expect(await numberAssignments.findFirst(['+3906*', '+39*'])).toEqual(changed);
  expect(await numberAssignments.findFirst(['+390612345678', '+39*'])).toEqual(second);
  expect(await numberAssignments.findFirst(['+3906*'])).toBeUndefined();
  expect([await numberAssignments.remove('+39*'), await numberAssignments.remove('+39*')]).toEqual([
    true,
    false,
  ]);
});

test('The migration lets live agents of all accounts but the first keep their numbers', async () => {
  const store = await openTestStore();
  const { agents, file } = store;
  await addAccount(store, 'acct_2');
  const add = (id: string, accountId: string, phoneNumber: string | null) =>
    agents.insert(buildAgent({ id, accountId, phoneNumber }));
  await add('agent_first', 'acct_1', '+390612345678');
  await add('agent_other', 'acct_2', '+390698765432');
  await add('agent_mute', 'acct_2', null);
  const sandboxed = { environment: 'test', phoneNumber: '+390622222222' } as const;
  await agents.insert(buildAgent({ ...sandboxed, accountId: 'acct_2' }));
  const sqlite = new Sqlite(file);
  sqlite.exec('drop table number_assignments');

  await up(new Kysely<unknown>({ dialect: new SqliteDialect({ database: sqlite }) }));

  const kept = sqlite.prepare('select number, account_id, assigned_by from number_assignments');
  expect(kept.all()).toEqual([
    { number: '+390698765432', account_id: 'acct_2', assigned_by: 'upgrade' },
  ]);
  sqlite.close();
});
