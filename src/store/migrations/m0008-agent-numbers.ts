/** The eighth schema: agents without a number are not in the indexes of numbers. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. */
export async function up(database: Kysely<unknown>): Promise<void> {
  const statements = [
    sql`drop index agents_by_live_number`,
    sql`drop index agents_by_test_number`,
    sql`create unique index agents_by_live_number on agents (phone_number)
      where environment = 'live' and phone_number is not null`,
    sql`create unique index agents_by_test_number on agents (account_id, phone_number)
      where environment = 'test' and phone_number is not null`,
  ];
  for (const statement of statements) await statement.execute(database);
}
