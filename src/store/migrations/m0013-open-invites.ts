/** The thirteenth schema: calls that are not answered yet are kept with the SIP dialogs, by the INVITE that began them. */
import type { Kysely } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('open_dialogs').addColumn('invite', 'text').execute();
}
