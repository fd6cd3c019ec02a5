/** The sixth schema: what agents were like after each change, so that one can go back. */
import { type Kysely, sql } from 'kysely';

/** Runs in one transaction. Agents that are there already begin with the version they are in now. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('agent_versions')
    .addColumn('agent_id', 'text', (column) =>
      column.notNull().references('agents.id').onDelete('cascade'),
    )
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('changed_by', 'text', (column) => column.notNull())
    .addColumn('changed', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('greeting', 'text', (column) => column.notNull())
    .addColumn('system_prompt', 'text', (column) => column.notNull())
    .addColumn('voice', 'text', (column) => column.notNull())
    .addColumn('language', 'text', (column) => column.notNull())
    .addColumn('phone_number', 'text')
    .addColumn('tools', 'text', (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('agent_versions_key', ['agent_id', 'version'])
    .modifyEnd(sql`strict`)
    .execute();
  const kept = sql.raw(
    'name, greeting, system_prompt, voice, language, phone_number, tools, settings, status',
  );
  await sql`insert into agent_versions (agent_id, version, at, changed_by, changed, ${kept})
    select id, 1, updated_at, 'api', '[]', ${kept} from agents`.execute(database);
}
