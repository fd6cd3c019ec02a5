/** The eleventh schema: calls say whether their recording was cut short. */
import type { Kysely } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('calls')
    .addColumn('recording_truncated', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
