/** The twelfth schema: deliveries have their row from the beginning, deleted endpoints a date, and a signing secret can be prepared. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('webhook_endpoints')
    .addColumn('deleted_at', 'integer')
    .execute();
  await database.schema
    .alterTable('signing_secrets')
    .addColumn('prepared_secret', 'text')
    .execute();
  for (const statement of [...FIRST_ANSWERS, ...ENDPOINTS, ...INDEXES]) {
    await statement.execute(database);
  }
}

/** Answers that a killed server had noted and not brought into the tables. */
const FIRST_ANSWERS = [
  sql`insert into webhook_deliveries (id, account_id, environment, endpoint_id, event_id, event_kind,
      event_at, status, attempts, last_status_code, created_at, finished_at)
    select noted.delivery_id, endpoint.account_id, endpoint.environment, endpoint.id, event.id,
      event.kind, event.created_at, 'succeeded', 1, noted.status_code, noted.made_at,
      noted.started_at + noted.duration_ms
    from first_answers noted
    join events event on event.position = noted.event_position
    join webhook_endpoints endpoint on endpoint.id = noted.endpoint_id`,
  sql`insert into webhook_attempts (delivery_id, attempt, at, duration_ms, status_code, response_text)
    select delivery_id, 1, started_at, duration_ms, status_code, response_text from first_answers
    where delivery_id in (select id from webhook_deliveries)`,
  sql`drop table first_answers`,
];

/** Deleted endpoints used to be moved to an environment of their own. */
const ENDPOINTS = [
  sql`update webhook_endpoints set deleted_at = updated_at where environment = 'deleted'`,
];

/** Lists leave out deliveries of deleted endpoints: with the endpoint in the index, skipped rows are never read. */
const INDEXES = [
  sql`drop index deliveries_by_time`,
  sql`drop index deliveries_failed`,
  sql`create index deliveries_by_time on webhook_deliveries (account_id, environment, created_at, id, endpoint_id)`,
  sql`create index deliveries_failed on webhook_deliveries (account_id, environment, created_at, id, endpoint_id)
    where status = 'failed'`,
];
