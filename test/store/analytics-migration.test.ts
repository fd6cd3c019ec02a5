import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { up } from '../../src/store/migrations/m0001-accounts-agents-calls.ts';
import { openStore } from '../../src/store/store.ts';
import { testFolder } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

/** 20 November 2026, noon. */
const NOON_MS = Date.UTC(2026, 10, 20, 12);

/** A database of the first version, with three calls of two agents. */
async function makeFirstVersion(file: string): Promise<void> {
  const sqlite = new Sqlite(file);
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: new SqliteDialect({ database: sqlite }) }),
    provider: { getMigrations: async () => ({ '0001-accounts-agents-calls': { up } }) },
  });
  const { error } = await migrator.migrateToLatest();
  expect(error).toBeUndefined();
  sqlite.exec(`insert into accounts values ('acct_1', 'One', 'business', 1000, 0)`);
  const insert = sqlite.prepare(
    `insert into calls (id, account_id, environment, agent_id, direction, status, from_number, to_number,
      created_at, started_at, answered_at, ended_at, duration_seconds, intent_detected, metadata, overrides, sort_at)
    values (?, 'acct_1', 'live', ?, 'inbound', 'completed', '+1', '+2', ?, ?, ?, ?, ?, 'booking', '{}', '{}', ?)`,
  );
  for (const [id, agentId, seconds] of [
    ['call_1', 'agent_1', 10],
    ['call_2', 'agent_1', 20],
    ['call_3', 'agent_2', 30],
  ] as const) {
    const endedAt = NOON_MS + seconds * 1000;
    insert.run(id, agentId, NOON_MS, NOON_MS, NOON_MS, endedAt, seconds, NOON_MS);
  }
  sqlite.close();
}

test('openStore adds up the calls of a database of the first version, by agent and for all', async () => {
  const file = join(testFolder(), 'offhook.db');
  await makeFirstVersion(file);

  const store = await openStore({ file, clock: new FakeClock(NOON_MS), log: silentLogger });
  onTestFinished(() => store.close());

  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const range = { firstDay: '2026-11-20', lastDay: '2026-11-20' };
  const seconds: unknown[] = [];
  for (const agentId of [undefined, 'agent_1', 'agent_2', 'agent_3']) {
    const query = agentId === undefined ? range : { ...range, agentId };
    seconds.push((await store.analytics.days(scope, query))[0]?.billedSeconds);
  }
  expect(seconds).toEqual([60, 30, 30, undefined]);
  expect(await store.analytics.intents(scope, range)).toEqual([{ intent: 'booking', count: 3 }]);
  expect((await store.calls.list(scope, { limit: 1, offset: 2 })).total).toBe(3);
});
