import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { up as first } from '../../src/store/migrations/m0001-accounts-agents-calls.ts';
import { up as second } from '../../src/store/migrations/m0002-delivery-usage-requests.ts';
import { up as openDialogs } from '../../src/store/migrations/m0003-open-dialogs.ts';
import { up as callQuality } from '../../src/store/migrations/m0004-call-quality.ts';
import { up as sipTraces } from '../../src/store/migrations/m0005-sip-traces.ts';
import { up as agentVersions } from '../../src/store/migrations/m0006-agent-versions.ts';
import { up as firstAnswers } from '../../src/store/migrations/m0007-first-answers.ts';
import { up as agentNumbers } from '../../src/store/migrations/m0008-agent-numbers.ts';
import { openStore } from '../../src/store/store.ts';
import { STORE_NOW_MS, testFolder } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SCOPE } from '../support/webhook/webhook-world.ts';

const OLD_STEPS = {
  '0001-accounts-agents-calls': { up: first },
  '0002-delivery-usage-requests': { up: second },
  '0003-open-dialogs': { up: openDialogs },
  '0004-call-quality': { up: callQuality },
  '0005-sip-traces': { up: sipTraces },
  '0006-agent-versions': { up: agentVersions },
  '0007-first-answers': { up: firstAnswers },
  '0008-agent-numbers': { up: agentNumbers },
};

/**
 * A database of a server that was killed: `evt_1` was received and only noted, `evt_2` has a row ahead of the cursor,
 * `evt_3` has nothing, and `we_gone` was deleted in part.
 */
async function makeKilled(file: string): Promise<void> {
  const sqlite = new Sqlite(file);
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: new SqliteDialect({ database: sqlite }) }),
    provider: { getMigrations: async () => OLD_STEPS },
  });
  const { error } = await migrator.migrateToLatest();
  expect(error).toBeUndefined();
  sqlite.exec(`insert into accounts (id, name, plan, minutes_included, created_at)
      values ('acct_1', 'One', 'business', 1000, 0);
    insert into signing_secrets (account_id, environment, secret, created_at)
      values ('acct_1', 'live', 'whsec_bmV3', 0);
    insert into webhook_endpoints (id, account_id, environment, url, events, description, status,
      created_at, updated_at, failures_in_row)
      values ('we_1', 'acct_1', 'live', 'https://a.example/', '["call.ended"]', '', 'active', 0, 0, 0),
        ('we_gone', 'acct_1', 'deleted', 'https://a.example/', '["call.ended"]', '', 'disabled', 0, 7, 0);
    insert into events (id, account_id, environment, kind, created_at, body)
      values ('evt_1', 'acct_1', 'live', 'call.ended', 1, '{}'),
        ('evt_2', 'acct_1', 'live', 'call.ended', 2, '{}'),
        ('evt_3', 'acct_1', 'live', 'call.ended', 3, '{}');
    insert into first_answers (delivery_id, event_position, endpoint_id, made_at, started_at,
      duration_ms, status_code, response_text) values ('dlv_1', 1, 'we_1', 10, 11, 5, 204, 'thanks');
    insert into webhook_deliveries (id, account_id, environment, endpoint_id, event_id, event_kind,
      event_at, status, attempts, next_attempt_at, created_at)
      values ('dlv_2', 'acct_1', 'live', 'we_1', 'evt_2', 'call.ended', 2, 'pending', 1, 99, 10)`);
  sqlite.close();
}

test('openStore takes deliveries over that an older server had noted, and makes none of them twice', async () => {
  const file = join(testFolder(), 'offhook.db');
  await makeKilled(file);
  const clock = new FakeClock(STORE_NOW_MS);

  const store = await openStore({ file, clock, log: silentLogger });
  onTestFinished(() => store.close());
  await store.outbox.fanOut({ limit: 100, now: clock.now() });

  const { deliveries, total } = await store.deliveries.list(SCOPE, { limit: 9, offset: 0 });
  const byEvent = Object.fromEntries(deliveries.map((delivery) => [delivery.eventId, delivery]));
  expect(total).toBe(3);
  expect(byEvent.evt_1).toMatchObject({
    ...{ id: 'dlv_1', status: 'succeeded', attempts: 1, lastStatusCode: 204 },
    ...{ createdAt: new Date(10), finishedAt: new Date(16), nextAttemptAt: null },
  });
  expect(await store.deliveries.attempts('dlv_1')).toEqual([
    {
      ...{ attempt: 1, at: new Date(11), durationMs: 5 },
      ...{ statusCode: 204, error: null, responseText: 'thanks' },
    },
  ]);
  expect(byEvent.evt_2).toMatchObject({ id: 'dlv_2', status: 'pending', attempts: 1 });
  expect(byEvent.evt_3).toMatchObject({ status: 'pending', attempts: 0 });
  expect(await store.retention.prune(new Date(20))).toBe(1);
  expect((await store.webhookEndpoints.list(SCOPE, { limit: 9, offset: 0 })).total).toBe(1);
});
