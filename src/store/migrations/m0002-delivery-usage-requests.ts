/** The second schema: webhooks on their way, usage added up by day, remembered answers, and analyses to make. */
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await addColumns(database);
  await freeEventsOfCalls(database);
  for (const table of tables(database)) await table.modifyEnd(sql`strict`).execute();
  // Sums are read in ranges of their key, so the key is the table.
  for (const table of usageTables(database)) {
    await table.modifyEnd(sql`strict, without rowid`).execute();
  }
  for (const statement of [...INDEXES, ...COUNTING, ...FILLING]) await statement.execute(database);
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

/** An event need not be a call's. SQLite cannot loosen a column, so the table is written anew. */
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
  return [...webhookTables(database), ...requestTables(database)];
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
      .addColumn('failing_since', 'integer'),
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
    database.schema
      .createTable('outbox_cursors')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('position', 'integer', (column) => column.notNull()),
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

const INDEXES = [
  sql`create index endpoints_by_time on webhook_endpoints (account_id, environment, created_at, id)`,
  sql`create index deliveries_by_time on webhook_deliveries (account_id, environment, created_at, id)`,
  sql`create index deliveries_failed on webhook_deliveries (account_id, environment, created_at, id) where status = 'failed'`,
  sql`create index deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at, id) where status = 'pending'`,
  sql`create index endpoints_disabled on webhook_endpoints (id) where status = 'disabled'`,
  sql`create index deliveries_by_endpoint on webhook_deliveries (endpoint_id, created_at, id)`,
  sql`create index deliveries_by_event on webhook_deliveries (event_id)`,
  sql`create index deliveries_over on webhook_deliveries (endpoint_id, status, event_at) where status <> 'pending'`,
  sql`create index attempts_by_delivery on webhook_attempts (delivery_id)`,
  sql`create index analysis_by_time on analysis_jobs (environment, due_at)`,
  sql`create index idempotency_by_time on idempotency_keys (created_at)`,
  sql`create index calls_queued on calls (environment, direction) where status = 'queued'`,
  // Every filter of a list is answered by the index, so that skipped calls are never read.
  sql`drop index calls_by_time`,
  sql`create index calls_by_time on calls (account_id, environment, sort_at, id, status, direction)`,
  sql`create index api_keys_by_account on api_keys (account_id, environment, created_at)`,
];

/** Lists of deliveries say how many there are; counting a million of them takes too long. */
const COUNTING = [
  sql`create table delivery_counts (
    endpoint_id text not null references webhook_endpoints (id) on delete cascade,
    status text not null, deliveries integer not null,
    primary key (endpoint_id, status)) strict, without rowid`,
  sql`create trigger delivery_added after insert on webhook_deliveries begin
    insert into delivery_counts values (new.endpoint_id, new.status, 1)
      on conflict do update set deliveries = deliveries + 1; end`,
  sql`create trigger delivery_moved after update of status on webhook_deliveries
    when old.status <> new.status begin
    update delivery_counts set deliveries = deliveries - 1
      where endpoint_id = old.endpoint_id and status = old.status;
    insert into delivery_counts values (new.endpoint_id, new.status, 1)
      on conflict do update set deliveries = deliveries + 1; end`,
  sql`create trigger delivery_deleted after delete on webhook_deliveries begin
    update delivery_counts set deliveries = deliveries - 1
      where endpoint_id = old.endpoint_id and status = old.status; end`,
];

/** What was there before is added up, and not sent to endpoints that are registered later. */
const FILLING = [
  // An endpoint is sent what happens after its making: events have an order of their own, clocks may go back.
  sql`alter table webhook_endpoints add column after_position integer not null default 0`,
  sql`create trigger endpoint_begins after insert on webhook_endpoints begin
    update webhook_endpoints set after_position = (select coalesce(max(position), 0) from events)
    where id = new.id; end`,
  sql`insert into call_days
    select account_id, environment, agent_id, sort_at / 86400000, direction, status, count(*),
      sum(answered_at is not null and ended_at is not null),
      sum(answered_at is null and ended_at is not null),
      sum(duration_seconds), coalesce(sum(sentiment_score), 0), count(sentiment_score)
    from calls group by 1, 2, 3, 4, 5, 6`,
  sql`insert into call_days
    select account_id, environment, '', day, direction, status, sum(calls), sum(answered),
      sum(missed), sum(billed_seconds), sum(sentiment_sum), sum(sentiment_count)
    from call_days group by account_id, environment, day, direction, status`,
  sql`insert into intent_days
    select account_id, environment, agent_id, sort_at / 86400000, intent_detected, count(*)
    from calls where intent_detected is not null group by 1, 2, 3, 4, 5`,
  sql`insert into intent_days
    select account_id, environment, '', day, intent, sum(calls)
    from intent_days group by account_id, environment, day, intent`,
  sql`insert into outbox_cursors values ('webhooks', coalesce((select max(position) from events), 0))`,
];
