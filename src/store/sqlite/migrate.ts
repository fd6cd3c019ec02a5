/** Brings a database to the current schema, in one transaction. Its `user_version` is the number of its newest step. */
import type Sqlite from 'better-sqlite3';
import { BASELINE } from './baseline.ts';
import { CALL_SEARCH, QUARTER_HOURS } from './schema-steps.ts';

interface Step {
  /** Begins with its number. */
  readonly name: string;
  readonly sql: string;
}

/** In order; a step that has been released is never changed. */
const STEPS: readonly Step[] = [
  { name: '0018-baseline', sql: BASELINE },
  {
    name: '0019-agent-responsiveness',
    sql: `
      alter table agents add column responsiveness text not null default 'balanced';
      alter table agent_versions add column responsiveness text not null default 'balanced';
      -- It was one of the settings before.
      update agents set responsiveness = settings ->> 'responsiveness',
        settings = json_remove(settings, '$.responsiveness') where settings ->> 'responsiveness' is not null;
      update agent_versions set responsiveness = settings ->> 'responsiveness',
        settings = json_remove(settings, '$.responsiveness') where settings ->> 'responsiveness' is not null;
      -- A database from before 0.1.0 has the names of its steps there.
      drop table if exists kysely_migration;
      drop table if exists kysely_migration_lock;`,
  },
  {
    name: '0020-trunks',
    sql: `
      create table trunks (
        name text primary key, settings text not null, password text,
        created_at integer not null, updated_at integer not null) strict;`,
  },
  {
    name: '0021-custom-tools',
    sql: `
      create table custom_tools (
        account_id text not null references accounts (id), environment text not null, name text not null,
        description text not null, parameters text not null, method text not null, url text not null,
        headers text not null, timeout_ms integer not null, say_while_waiting text, result_path text,
        created_at integer not null, updated_at integer not null,
        primary key (account_id, environment, name)) strict;`,
  },
  {
    name: '0022-sms',
    sql: `
      alter table agents add column sms_gateway text;
      alter table agent_versions add column sms_gateway text;
      create table sms_gateways (
        id text primary key, account_id text not null references accounts (id), environment text not null,
        name text not null, kind text not null, preset text, "from" text not null, username text,
        secret text, url text, template text, allowed_links text not null, daily_max integer not null,
        timeout_ms integer not null, created_at integer not null, updated_at integer not null) strict;
      create unique index sms_gateways_by_name on sms_gateways (account_id, environment, name);
      create table sms_messages (
        id text primary key, account_id text not null, environment text not null,
        call_id text not null references calls (id) on delete cascade, gateway text not null, "to" text not null,
        text text, status text not null, reason text, provider_id text, created_at integer not null,
        updated_at integer not null) strict;
      create index sms_messages_by_call on sms_messages (call_id);
      create index sms_messages_by_time on sms_messages (account_id, environment, created_at);
      create index sms_messages_by_provider on sms_messages (provider_id) where provider_id is not null;
      create index sms_messages_accepted on sms_messages (id) where status = 'accepted';
      create table sms_opt_outs (
        account_id text not null references accounts (id), environment text not null, number text not null,
        created_at integer not null, primary key (account_id, environment, number)) strict, without rowid;`,
  },
  {
    name: '0023-calendars',
    sql: `
      alter table agents add column calendar text;
      alter table agent_versions add column calendar text;
      create table calendars (
        account_id text not null references accounts (id), environment text not null, name text not null,
        kind text not null, time_zone text not null, working_hours text not null, slot_minutes integer not null,
        buffer_minutes integer not null, min_notice_minutes integer not null, max_days_ahead integer not null,
        url text, username text, password text, feed_token text not null unique,
        created_at integer not null, updated_at integer not null,
        primary key (account_id, environment, name)) strict;
      create table appointments (
        id text primary key, account_id text not null, environment text not null, calendar text not null,
        call_id text not null, agent_id text not null, title text not null,
        starts_at integer not null, ends_at integer not null, attendee_phone text not null,
        attendee_name text not null, status text not null, reason text, is_synced integer not null,
        previous_starts_at integer, previous_ends_at integer,
        created_at integer not null, updated_at integer not null) strict;
      create index appointments_by_start on appointments (account_id, environment, calendar, starts_at);
      create index appointments_by_phone on appointments (attendee_phone, starts_at);
      create index appointments_by_call on appointments (call_id);
      create index appointments_unsynced on appointments (updated_at) where is_synced = 0;
      -- Slots are checked in the transaction that takes them; this holds even where that check fails.
      create unique index appointments_once on appointments (account_id, environment, calendar, starts_at)
        where status in ('pending', 'confirmed');`,
  },
  {
    name: '0024-calling-windows',
    sql: `
      alter table calls add column not_before_at integer;
      alter table calls add column not_after_at integer;
      alter table accounts add column calling_hours text;`,
  },
  {
    name: '0025-extraction',
    sql: `
      alter table agents add column extract text;
      alter table agents add column success_criteria text;
      alter table agent_versions add column extract text;
      alter table agent_versions add column success_criteria text;
      alter table calls add column extracted text;
      alter table calls add column success text;`,
  },
  {
    name: '0026-mcp-servers',
    sql: `
      create table mcp_servers (
        account_id text not null references accounts (id), environment text not null, name text not null,
        url text not null, headers text not null, allowed_tools text not null,
        created_at integer not null, updated_at integer not null,
        primary key (account_id, environment, name)) strict;`,
  },
  {
    name: '0027-answered-by',
    sql: 'alter table calls add column answered_by text;',
  },
  { name: '0028-call-search', sql: CALL_SEARCH },
  {
    name: '0029-knowledge',
    sql: `
      create table knowledge_documents (
        id text primary key, account_id text not null references accounts (id), environment text not null,
        agent_id text not null references agents (id) on delete cascade, name text not null, version integer not null,
        media_type text not null, chars integer not null, passages integer not null,
        created_at integer not null, updated_at integer not null, unique (agent_id, name)) strict;
      create table knowledge_versions (
        document_id text not null references knowledge_documents (id) on delete cascade, version integer not null,
        media_type text not null, chars integer not null, text text not null, created_at integer not null,
        primary key (document_id, version)) strict;
      create table knowledge_passages (
        id integer primary key autoincrement,
        document_id text not null references knowledge_documents (id) on delete cascade,
        agent_id text not null, number integer not null, heading text not null, text text not null,
        -- One word for the full text index, which parts words at the underscore.
        agent_word text generated always as (replace(agent_id, '_', '')) virtual) strict;
      create index knowledge_passages_by_agent on knowledge_passages (agent_id);
      -- Of passages whose meaning has been computed; float32, as the machine has them.
      create table knowledge_vectors (
        passage_id integer primary key references knowledge_passages (id) on delete cascade,
        model text not null, vector blob not null) strict;
      create index knowledge_passages_by_document on knowledge_passages (document_id);
      create virtual table knowledge_index using fts5 (
        agent_word, heading, text, content = 'knowledge_passages', content_rowid = 'id',
        tokenize = 'porter unicode61 remove_diacritics 2');
      -- Words of deleted passages leave the index at once, and not with its next merge.
      insert into knowledge_index (knowledge_index, rank) values ('secure-delete', 1);
      create trigger knowledge_passage_added after insert on knowledge_passages begin
        insert into knowledge_index (rowid, agent_word, heading, text)
          values (new.id, new.agent_word, new.heading, new.text);
      end;
      create trigger knowledge_passage_deleted after delete on knowledge_passages begin
        insert into knowledge_index (knowledge_index, rowid, agent_word, heading, text)
          values ('delete', old.id, old.agent_word, old.heading, old.text);
      end;`,
  },
  {
    name: '0030-campaigns',
    sql: `
      create table campaigns (
        id text primary key, account_id text not null references accounts (id), environment text not null,
        agent_id text not null, name text not null, status text not null, status_reason text, "from" text,
        calls_per_minute integer not null, max_concurrent_calls integer not null,
        not_before_at integer, not_after_at integer, retries_max integer not null, retry_delay_seconds integer not null,
        created_at integer not null, updated_at integer not null, ended_at integer) strict;
      create index campaigns_by_time on campaigns (account_id, environment, created_at);
      create index campaigns_running on campaigns (id) where status = 'running';
      create table campaign_contacts (
        campaign_id text not null references campaigns (id) on delete cascade, position integer not null,
        "to" text not null, metadata text not null, overrides text not null, state text not null,
        attempts integer not null,
        -- One call belongs to one contact: a call that is made twice for a contact cannot be bound twice.
        call_id text unique references calls (id) on delete set null
          -- The bond is written before the call, in the same transaction.
          deferrable initially deferred,
        end_reason text, reason text, due_at integer not null,
        primary key (campaign_id, position)) strict, without rowid;
      create unique index campaign_contacts_by_number on campaign_contacts ("to", campaign_id);
      create index campaign_contacts_due on campaign_contacts (campaign_id, state, due_at, position);
      create index campaign_contacts_calling on campaign_contacts (call_id) where state = 'calling';`,
  },
  {
    name: '0031-users',
    sql: `
      create table users (
        id text primary key, name text not null unique, role text not null, password text, stamp integer not null,
        created_at integer not null, last_sign_in_at integer, disabled_at integer) strict;
      -- The one password of the version before is that of the first admin.
      insert into users (id, name, role, password, stamp, created_at)
        select 'usr_' || lower(hex(randomblob(12))), 'admin', 'admin', value, 1,
          cast(unixepoch('subsec') * 1000 as integer) from secrets where name = 'operator-password';
      delete from secrets where name = 'operator-password';
      create table invites (
        id text primary key, hash text not null unique, role text not null, created_by text not null,
        created_at integer not null, expires_at integer not null, used_at integer, revoked_at integer) strict;
      create table audit_log (
        position integer primary key autoincrement, id text not null unique, at integer not null,
        actor text not null, actor_id text, actor_name text, address text, action text not null, resource text,
        status integer, account_id text, environment text) strict;
      create index audit_log_by_time on audit_log (at);
      create index audit_log_by_actor on audit_log (actor_id, position) where actor_id is not null;
      create index audit_log_by_resource on audit_log (resource, position) where resource is not null;`,
  },
  { name: '0032-quarter-hours', sql: QUARTER_HOURS },
  {
    name: '0033-delivery-headers',
    sql: `
      alter table webhook_attempts add column request_headers text;
      alter table webhook_attempts add column response_headers text;
      -- Kept there, because a backlog of deliveries without an attempt may be long.
      alter table webhook_endpoints add column last_attempt text;`,
  },
  {
    name: '0034-engine-times',
    sql: `
      -- Turns by bucket of the time of each engine, as \`turns\` are; null in rows of the version before.
      alter table answer_times add column recognition blob;
      alter table answer_times add column model blob;
      alter table answer_times add column voice blob;`,
  },
  {
    name: '0035-agent-model',
    sql: `
      alter table agents add column model text;
      alter table agent_versions add column model text;`,
  },
  {
    name: '0036-agent-drafts',
    sql: `
      create table agent_drafts (
        agent_id text primary key references agents (id) on delete cascade, changes text not null,
        based_on_at integer not null, changed_by text not null, updated_at integer not null) strict;`,
  },
  {
    name: '0037-call-costs',
    sql: `
      alter table calls add column price text;
      alter table calls add column cost text;
      alter table open_dialogs add column price text;
      -- Millionths of each currency's unit; agent '' stands for all agents of the account.
      create table call_costs (
        agent_id text not null, account_id text not null, environment text not null, quarter_hour integer not null,
        currency text not null, calls integer not null, micros integer not null,
        primary key (agent_id, account_id, environment, quarter_hour, currency)) strict, without rowid;`,
  },
  {
    name: '0038-dialog-peers',
    sql: 'alter table open_dialogs add column peer text;',
  },
];

/** The schema of databases from before 0.1.0 that this version takes: the same as the baseline. */
const BASELINE_BY_KYSELY = '0018-call-failures';

/**
 * Runs the steps that the database has not seen.
 *
 * @returns the names of the steps that ran.
 * @throws {Error} when a step fails, or the database is of a newer version, or of one from before 0.1.0 that is too old.
 */
export function migrate(sqlite: Sqlite.Database): readonly string[] {
  return sqlite
    .transaction(() => {
      const pending = pendingSteps(sqlite);
      for (const { sql } of pending) sqlite.exec(sql);
      const version = Math.max(...STEPS.map(numberOf));
      if (pending.length > 0) sqlite.pragma(`user_version=${version}`);
      return pending.map(({ name }) => name);
    })
    .immediate();
}

/**
 * Checks that the database is at the current schema, without changing it.
 *
 * @throws {Error} when the database has not seen every step, or is of a newer version.
 */
export function refusePending(sqlite: Sqlite.Database): void {
  const [pending] = pendingSteps(sqlite);
  if (pending === undefined) return;
  throw new Error(
    `it lacks step "${pending.name}" of this version; stop the server and run "admin migrate", or start the server of this version`,
  );
}

function pendingSteps(sqlite: Sqlite.Database): readonly Step[] {
  const version = versionOf(sqlite);
  // This version may misread a newer database.
  if (version > Math.max(...STEPS.map(numberOf))) {
    throw new Error(`it was written by a newer version of Offhook (schema ${version})`);
  }
  return STEPS.filter((step) => numberOf(step) > version);
}

/** Number of the newest step that the database has seen; 0 for an empty one. */
function versionOf(sqlite: Sqlite.Database): number {
  const version = Number(sqlite.pragma('user_version', { simple: true }));
  const isByKysely = sqlite
    .prepare("select 1 from sqlite_master where name = 'kysely_migration'")
    .get();
  if (version > 0 || isByKysely === undefined) return version;
  const newest = sqlite.prepare('select max(name) from kysely_migration').pluck().get();
  if (newest === BASELINE_BY_KYSELY) return numberOf({ name: BASELINE_BY_KYSELY });
  throw new Error(
    `it was written by another version from before 0.1.0 (step "${newest}"); start the last version from before 0.1.0 on it once`,
  );
}

function numberOf({ name }: Pick<Step, 'name'>): number {
  return Number.parseInt(name, 10);
}
