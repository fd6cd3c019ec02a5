/** The seventeenth schema: erased calls, who asked for it, what is left to be done, and how long accounts keep calls. */
import { type Kysely, sql } from 'kysely';

/**
 * Runs in one transaction. What was deleted before may lie in the unused space of pages still: the file is rewritten
 * once.
 */
export async function up(database: Kysely<unknown>): Promise<void> {
  const statements = [
    sql`create table erasures (
      id text primary key, account_id text not null, environment text, kind text not null,
      asked_by text not null, asked_at integer not null,
      calls integer not null, recordings integer not null, transcripts integer not null,
      finished_at integer) strict`,
    sql`create index erasures_open on erasures (id) where finished_at is null`,
    sql`create table erased_calls (
      call_id text primary key, erasure_id text not null, account_id text not null,
      environment text not null, agent_id text not null, started_at integer,
      duration_seconds integer not null, erased_at integer not null) strict, without rowid`,
    sql`create index erased_calls_by_agent on erased_calls (agent_id, started_at, duration_seconds)`,
    sql`create table noted_erasures (
      call_id text primary key references calls (id) on delete cascade,
      erasure_id text not null) strict, without rowid`,
    sql`create index noted_erasures_by_order on noted_erasures (erasure_id)`,
    sql`create table erasure_leftovers (
      kind text not null, name text not null, primary key (kind, name)) strict, without rowid`,
    sql`insert into erasure_leftovers values ('pages', 'asked')`,
    sql`alter table call_days add column erased integer not null default 0`,
    sql`alter table calls add column words_erased integer not null default 0`,
    sql`create index calls_recorded on calls (account_id, sort_at) where recording_file is not null`,
    sql`create index calls_with_words on calls (account_id, sort_at) where words_erased = 0`,
    ...['recordings_days', 'transcripts_days', 'calls_days'].map(
      (column) => sql`alter table accounts add column ${sql.ref(column)} integer`,
    ),
    sql`create index calls_by_caller on calls (account_id, from_number)`,
    sql`create index calls_by_called on calls (account_id, to_number)`,
  ];
  for (const statement of statements) await statement.execute(database);
}
