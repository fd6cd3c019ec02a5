/** The eighteenth schema: calls say why they failed or still wait, and until when they may wait. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. Calls that wait from before keep the day that they had. */
export async function up(database: Kysely<unknown>): Promise<void> {
  const statements = [
    sql`alter table calls add column failure_reason text`,
    sql`alter table calls add column sip_status integer`,
    sql`alter table calls add column expires_at integer`,
    sql`update calls set expires_at = created_at + 86400000
      where status = 'queued' and direction = 'outbound'`,
  ];
  for (const statement of statements) await statement.execute(database);
}
