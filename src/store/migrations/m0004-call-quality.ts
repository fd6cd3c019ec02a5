/** The fourth schema: how well the packets of calls travelled. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('call_qualities')
    .addColumn('call_id', 'text', (column) =>
      column.primaryKey().references('calls.id').onDelete('cascade'),
    )
    .addColumn('codec', 'text', (column) => column.notNull())
    .addColumn('local', 'text', (column) => column.notNull())
    .addColumn('remote', 'text')
    .addColumn('mos', 'real')
    .modifyEnd(sql`strict`)
    .execute();
}
