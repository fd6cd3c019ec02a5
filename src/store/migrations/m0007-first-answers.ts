/** The seventh schema: what was received at the first attempt waits in a list before it is brought into the tables. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('first_answers')
    .addColumn('position', 'integer', (column) => column.primaryKey())
    .addColumn('delivery_id', 'text', (column) => column.notNull())
    .addColumn('event_position', 'integer', (column) => column.notNull())
    .addColumn('endpoint_id', 'text', (column) => column.notNull())
    .addColumn('made_at', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'integer', (column) => column.notNull())
    .addColumn('duration_ms', 'integer', (column) => column.notNull())
    .addColumn('status_code', 'integer')
    .addColumn('response_text', 'text')
    .modifyEnd(sql`strict`)
    .execute();
}
