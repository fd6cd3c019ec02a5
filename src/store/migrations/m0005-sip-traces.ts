/** The fifth schema: the SIP messages of calls, one row a call. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('sip_traces')
    .addColumn('call_id', 'text', (column) =>
      column.primaryKey().references('calls.id').onDelete('cascade'),
    )
    .addColumn('messages', 'text', (column) => column.notNull())
    .addColumn('is_truncated', 'integer', (column) => column.notNull())
    .addColumn('kept_at', 'integer', (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await sql`create index sip_traces_by_time on sip_traces (kept_at)`.execute(database);
}
