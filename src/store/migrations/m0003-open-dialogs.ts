/** The third schema: the SIP dialogs of answered calls, so that a later process can end what this one leaves. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('open_dialogs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('sip_call_id', 'text', (column) => column.notNull())
    .addColumn('local_party', 'text', (column) => column.notNull())
    .addColumn('remote_party', 'text', (column) => column.notNull())
    .addColumn('remote_target', 'text', (column) => column.notNull())
    .addColumn('routes', 'text', (column) => column.notNull())
    .addColumn('sequence', 'integer', (column) => column.notNull())
    .addColumn('channels', 'text', (column) => column.notNull())
    .addColumn('opened_at', 'integer', (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}
