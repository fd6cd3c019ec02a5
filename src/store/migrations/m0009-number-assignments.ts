/** The ninth schema: which telephone numbers the operator has assigned to which account. */
import { type Kysely, sql } from 'kysely';

/**
 * Runs in one transaction. Live agents of accounts besides the first keep the numbers that they have: without an
 * assignment, the numbers of a trunk are the first account's.
 */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('number_assignments')
    .addColumn('number', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('assigned_at', 'integer', (column) => column.notNull())
    .addColumn('assigned_by', 'text', (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await sql`insert into number_assignments
    select phone_number, account_id, unixepoch() * 1000, 'upgrade' from agents
    where environment = 'live' and phone_number is not null
      and account_id <> (select id from accounts order by created_at, id limit 1)`.execute(
    database,
  );
}
