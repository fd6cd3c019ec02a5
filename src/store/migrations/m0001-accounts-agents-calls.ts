/** The first schema: accounts, keys, agents, calls with what was said on them, and the outbox. */
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const table of tables(database)) await table.modifyEnd(sql`strict`).execute();
  await createIndexes(database);
}

function tables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [
    ...accountTables(database),
    agentTable(database),
    callTable(database),
    ...callDetailTables(database),
    ...serverTables(database),
  ];
}

function accountTables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [
    database.schema
      .createTable('accounts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('plan', 'text', (column) => column.notNull())
      .addColumn('minutes_included', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull()),
    database.schema
      .createTable('signing_secrets')
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('signing_secrets_key', ['account_id', 'environment']),
    database.schema
      .createTable('api_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('prefix', 'text', (column) => column.notNull())
      .addColumn('last_four', 'text', (column) => column.notNull())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('last_used_at', 'integer')
      .addColumn('revoked_at', 'integer'),
  ];
}

function agentTable(database: Kysely<unknown>): CreateTableBuilder<string, string> {
  return database.schema
    .createTable('agents')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('environment', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('greeting', 'text', (column) => column.notNull())
    .addColumn('system_prompt', 'text', (column) => column.notNull())
    .addColumn('voice', 'text', (column) => column.notNull())
    .addColumn('language', 'text', (column) => column.notNull())
    .addColumn('phone_number', 'text')
    .addColumn('tools', 'text', (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('updated_at', 'integer', (column) => column.notNull());
}

/** `agent_id` refers to nothing, because an agent's calls outlive it. */
function callTable(database: Kysely<unknown>): CreateTableBuilder<string, string> {
  return database.schema
    .createTable('calls')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('environment', 'text', (column) => column.notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('from_number', 'text', (column) => column.notNull())
    .addColumn('to_number', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'integer')
    .addColumn('answered_at', 'integer')
    .addColumn('ended_at', 'integer')
    .addColumn('end_reason', 'text')
    .addColumn('duration_seconds', 'integer', (column) => column.notNull())
    .addColumn('carrier_call_sid', 'text')
    .addColumn('recording_file', 'text')
    .addColumn('summary', 'text')
    .addColumn('sentiment', 'text')
    .addColumn('sentiment_score', 'real')
    .addColumn('intent_detected', 'text')
    .addColumn('metadata', 'text', (column) => column.notNull())
    .addColumn('overrides', 'text', (column) => column.notNull())
    .addColumn('sort_at', 'integer', (column) => column.notNull());
}

function callDetailTables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [
    database.schema
      .createTable('transcript_entries')
      .addColumn('position', 'integer', (column) => column.primaryKey())
      .addColumn('call_id', 'text', (column) => column.notNull().references('calls.id'))
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('confidence', 'real'),
    database.schema
      .createTable('timeline_entries')
      .addColumn('position', 'integer', (column) => column.primaryKey())
      .addColumn('call_id', 'text', (column) => column.notNull().references('calls.id'))
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull()),
    database.schema
      .createTable('events')
      .addColumn('position', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('call_id', 'text', (column) => column.notNull().references('calls.id'))
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull()),
  ];
}

function serverTables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [
    database.schema
      .createTable('rate_counts')
      .addColumn('subject', 'text', (column) => column.primaryKey())
      .addColumn('window_start', 'integer', (column) => column.notNull())
      .addColumn('requests', 'integer', (column) => column.notNull()),
    database.schema
      .createTable('secrets')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull()),
    database.schema
      .createTable('probes')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('probed_at', 'integer', (column) => column.notNull()),
  ];
}

/**
 * A live number rings one agent of the whole installation; a test number only has to be unique in its account.
 * The index of an agent's calls ends in what today's usage sums, so that the sum never reads the calls themselves.
 */
async function createIndexes(database: Kysely<unknown>): Promise<void> {
  const statements = [
    sql`create index agents_by_time on agents (account_id, environment, created_at, id)`,
    sql`create unique index agents_by_live_number on agents (phone_number) where environment = 'live'`,
    sql`create unique index agents_by_test_number on agents (account_id, phone_number) where environment = 'test'`,
    sql`create index calls_by_time on calls (account_id, environment, sort_at, id)`,
    sql`create index calls_by_agent on calls (agent_id, sort_at, id, started_at, duration_seconds)`,
    sql`create index calls_unfinished on calls (agent_id) where status in ('queued', 'ringing', 'in_progress')`,
    sql`create index transcript_by_call on transcript_entries (call_id)`,
    sql`create index timeline_by_call on timeline_entries (call_id)`,
    sql`create index events_by_call on events (call_id)`,
    sql`create index rate_counts_by_window on rate_counts (window_start)`,
  ];
  for (const statement of statements) await statement.execute(database);
}
