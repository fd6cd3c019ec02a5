/** Migrates a database to the current schema, each step in one transaction. */
import type Sqlite from 'better-sqlite3';
import { Kysely, SqliteAdapter, SqliteDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { up as accountsAgentsCalls } from '../migrations/m0001-accounts-agents-calls.ts';
import { up as deliveryUsageRequests } from '../migrations/m0002-delivery-usage-requests.ts';
import { up as openDialogs } from '../migrations/m0003-open-dialogs.ts';
import { up as callQuality } from '../migrations/m0004-call-quality.ts';
import { up as sipTraces } from '../migrations/m0005-sip-traces.ts';
import { up as agentVersions } from '../migrations/m0006-agent-versions.ts';
import { up as firstAnswers } from '../migrations/m0007-first-answers.ts';
import { up as agentNumbers } from '../migrations/m0008-agent-numbers.ts';
import { up as numberAssignments } from '../migrations/m0009-number-assignments.ts';
import { up as recordingTruncated } from '../migrations/m0011-recording-truncated.ts';
import { up as plainWebhooks } from '../migrations/m0012-plain-webhooks.ts';
import { up as openInvites } from '../migrations/m0013-open-invites.ts';
import { up as erasure } from '../migrations/m0017-erasure.ts';
import { up as callFailures } from '../migrations/m0018-call-failures.ts';

/** In the order of their names. A step that has been released is never changed. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-accounts-agents-calls': { up: accountsAgentsCalls },
  '0002-delivery-usage-requests': { up: deliveryUsageRequests },
  '0003-open-dialogs': { up: openDialogs },
  '0004-call-quality': { up: callQuality },
  '0005-sip-traces': { up: sipTraces },
  '0006-agent-versions': { up: agentVersions },
  '0007-first-answers': { up: firstAnswers },
  '0008-agent-numbers': { up: agentNumbers },
  '0009-number-assignments': { up: numberAssignments },
  '0011-recording-truncated': { up: recordingTruncated },
  '0012-plain-webhooks': { up: plainWebhooks },
  '0013-open-invites': { up: openInvites },
  '0017-erasure': { up: erasure },
  '0018-call-failures': { up: callFailures },
};

/** SQLite rolls schema changes back with the transaction; Kysely's own adapter says that it does not. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class TransactionalDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

function migratorOf(sqlite: Sqlite.Database): Migrator {
  return new Migrator({
    db: new Kysely<unknown>({ dialect: new TransactionalDialect({ database: sqlite }) }),
    provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
  });
}

/**
 * Runs the steps that the database has not seen. The handle stays open.
 *
 * @returns the names of the steps that ran.
 * @throws {Error} when a step fails, or the database has seen steps that this version does not know.
 */
export async function migrate(sqlite: Sqlite.Database): Promise<readonly string[]> {
  const migrator = migratorOf(sqlite);
  refuseNewer(await migrator.getMigrations(), sqlite);
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}

/**
 * Checks that the database is at the current schema, without changing it.
 *
 * @throws {Error} when the database has not seen every step, or has seen steps that this version does not know.
 */
export async function refusePending(sqlite: Sqlite.Database): Promise<void> {
  const known = await migratorOf(sqlite).getMigrations();
  refuseNewer(known, sqlite);
  const pending = known.find(({ executedAt }) => executedAt === undefined);
  if (pending !== undefined) {
    throw new Error(
      `it lacks step "${pending.name}" of this version; stop the server and run "admin migrate", or start the server of this version`,
    );
  }
}

/** This version may misread a newer database. */
function refuseNewer(known: readonly { readonly name: string }[], sqlite: Sqlite.Database): void {
  const hasHistory = sqlite
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'")
    .get();
  if (hasHistory === undefined) return;
  const seen = sqlite.prepare<[], string>('select name from kysely_migration').pluck().all();
  const unknown = seen.filter((name) => !known.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new Error(`it was written by a newer version of Offhook (step "${unknown[0]}")`);
  }
}
