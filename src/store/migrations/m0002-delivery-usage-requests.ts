/** The second schema: webhooks on their way, usage added up by day, cached answers, and analyses to make. */
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { FILLING, INDEXES, TRIGGERS } from './m0002-statements.ts';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await addColumns(database);
  await freeEventsOfCalls(database);
  for (const table of tables(database)) await table.modifyEnd(sql`strict`).execute();
  // Sums are read in ranges of their key, so the key is the table.
  for (const table of usageTables(database)) {
    await table.modifyEnd(sql`strict, without rowid`).execute();
  }
  for (const statement of [...INDEXES, ...TRIGGERS, ...FILLING]) await statement.execute(database);
}

async function addColumns(database: Kysely<unknown>): Promise<void> {
  const alter = (table: string) => database.schema.alterTable(table);
  const statements = [
    alter('accounts').addColumn('transfer_targets', 'text', (column) =>
      column.notNull().defaultTo('[]'),
    ),
    alter('accounts').addColumn('allowed_countries', 'text'),
    alter('signing_secrets').addColumn('previous_secret', 'text'),
    alter('signing_secrets').addColumn('rotated_at', 'integer'),
    alter('calls').addColumn('scenario', 'text'),
  ];
  for (const statement of statements) await statement.execute();
}

/** An event need not be a call's. SQLite cannot loosen a column, so the table is rebuilt. */
async function freeEventsOfCalls(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('events_new')
    .addColumn('position', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('environment', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.references('calls.id'))
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  const columns = sql.raw('position, id, account_id, environment, kind, call_id, created_at, body');
  const statements = [
    sql`insert into events_new (${columns}) select ${columns} from events`,
    sql`drop table events`,
    sql`alter table events_new rename to events`,
    sql`create index events_by_call on events (call_id)`,
    sql`create index events_by_account on events (account_id, environment, position)`,
    sql`create index events_by_time on events (created_at)`,
    sql`create index events_by_hour on events (created_at / 3600000, position)`,
  ];
  for (const statement of statements) await statement.execute(database);
}

function tables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [...webhookTables(database), ...requestTables(database), cursorTable(database)];
}

function webhookTables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [
    database.schema
      .createTable('webhook_endpoints')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('events', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('disabled_reason', 'text')
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'integer', (column) => column.notNull())
      .addColumn('failures_in_row', 'integer', (column) => column.notNull())
      .addColumn('failing_since', 'integer')
      .addColumn('after_position', 'integer', (column) => column.notNull().defaultTo(0)),
    database.schema
      .createTable('webhook_deliveries')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('endpoint_id', 'text', (column) =>
        column.notNull().references('webhook_endpoints.id').onDelete('cascade'),
      )
      .addColumn('event_id', 'text', (column) => column.notNull())
      .addColumn('event_kind', 'text', (column) => column.notNull())
      .addColumn('event_at', 'integer', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at', 'integer')
      .addColumn('last_status_code', 'integer')
      .addColumn('last_error', 'text')
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('finished_at', 'integer'),
    database.schema
      .createTable('webhook_attempts')
      .addColumn('position', 'integer', (column) => column.primaryKey())
      .addColumn('delivery_id', 'text', (column) =>
        column.notNull().references('webhook_deliveries.id').onDelete('cascade'),
      )
      .addColumn('attempt', 'integer', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('duration_ms', 'integer', (column) => column.notNull())
      .addColumn('status_code', 'integer')
      .addColumn('error', 'text')
      .addColumn('response_text', 'text'),
  ];
}

/** Agent '' stands for all agents of the account, so that their number does not matter. */
function usageTables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [
    database.schema
      .createTable('call_days')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('direction', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('calls', 'integer', (column) => column.notNull())
      .addColumn('answered', 'integer', (column) => column.notNull())
      .addColumn('missed', 'integer', (column) => column.notNull())
      .addColumn('billed_seconds', 'integer', (column) => column.notNull())
      .addColumn('sentiment_sum', 'real', (column) => column.notNull())
      .addColumn('sentiment_count', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('call_days_key', [
        'agent_id',
        'account_id',
        'environment',
        'day',
        'direction',
        'status',
      ]),
    database.schema
      .createTable('intent_days')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('intent', 'text', (column) => column.notNull())
      .addColumn('calls', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('intent_days_key', [
        'agent_id',
        'account_id',
        'environment',
        'day',
        'intent',
      ]),
  ];
}

function requestTables(database: Kysely<unknown>): CreateTableBuilder<string, string>[] {
  return [
    database.schema
      .createTable('analysis_jobs')
      .addColumn('call_id', 'text', (column) => column.primaryKey().references('calls.id'))
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('ended_at', 'integer', (column) => column.notNull())
      .addColumn('due_at', 'integer', (column) => column.notNull()),
    database.schema
      .createTable('idempotency_keys')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('method', 'text', (column) => column.notNull())
      .addColumn('path', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('body', 'text')
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('idempotency_keys_key', [
        'account_id',
        'environment',
        'method',
        'path',
        'key',
      ]),
  ];
}

/** How far readers of the outbox have come. */
function cursorTable(database: Kysely<unknown>): CreateTableBuilder<string, string> {
  return database.schema
    .createTable('outbox_cursors')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('position', 'integer', (column) => column.notNull());
}
