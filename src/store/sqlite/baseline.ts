/** The schema of version 0.1.0. Databases begin with it; later changes are steps of `migrate.ts`. */

/** Tables of accounts and of their data, except calls. */
const ACCOUNTS = `
create table accounts (
  id text primary key, name text not null, plan text not null,
  minutes_included integer not null, transfer_targets text not null default '[]',
  allowed_countries text, recordings_days integer, transcripts_days integer, calls_days integer,
  created_at integer not null) strict;

create table signing_secrets (
  account_id text not null references accounts (id), environment text not null,
  secret text not null, created_at integer not null,
  prepared_secret text, previous_secret text, rotated_at integer,
  primary key (account_id, environment)) strict;

create table api_keys (
  id text primary key, account_id text not null references accounts (id),
  environment text not null, name text not null, hash text not null unique,
  prefix text not null, last_four text not null, scopes text not null,
  created_at integer not null, last_used_at integer, revoked_at integer) strict;
create index api_keys_by_account on api_keys (account_id, environment, created_at);

create table agents (
  id text primary key, account_id text not null references accounts (id),
  environment text not null, name text not null, greeting text not null,
  system_prompt text not null, voice text not null, language text not null, phone_number text,
  tools text not null, settings text not null, status text not null,
  created_at integer not null, updated_at integer not null) strict;
create index agents_by_time on agents (account_id, environment, created_at, id);
-- A live number rings one agent of the whole installation; a test number one agent of its account.
create unique index agents_by_live_number on agents (phone_number)
  where environment = 'live' and phone_number is not null;
create unique index agents_by_test_number on agents (account_id, phone_number)
  where environment = 'test' and phone_number is not null;

create table agent_versions (
  agent_id text not null references agents (id) on delete cascade, version integer not null,
  at integer not null, changed_by text not null, changed text not null,
  name text not null, greeting text not null, system_prompt text not null, voice text not null,
  language text not null, phone_number text, tools text not null, settings text not null,
  status text not null,
  primary key (agent_id, version)) strict;

create table number_assignments (
  number text primary key, account_id text not null references accounts (id),
  assigned_at integer not null, assigned_by text not null) strict, without rowid;
`;

/**
 * Calls with their records. `agent_id` is no foreign key, because an agent's calls outlive it. The index of an agent's calls
 * ends in the columns that today's usage sums; `calls_by_time` answers every filter of a list.
 */
const CALLS = `
create table calls (
  id text primary key, account_id text not null references accounts (id),
  environment text not null, agent_id text not null, direction text not null,
  status text not null, from_number text not null, to_number text not null,
  created_at integer not null, started_at integer, answered_at integer, ended_at integer,
  end_reason text, failure_reason text, sip_status integer, expires_at integer,
  duration_seconds integer not null, carrier_call_sid text,
  recording_file text, recording_truncated integer not null default 0,
  summary text, sentiment text, sentiment_score real, intent_detected text,
  metadata text not null, overrides text not null, scenario text,
  sort_at integer not null, words_erased integer not null default 0) strict;
create index calls_by_time on calls (account_id, environment, sort_at, id, status, direction);
create index calls_by_agent on calls (agent_id, sort_at, id, started_at, duration_seconds);
create index calls_unfinished on calls (agent_id)
  where status in ('queued', 'ringing', 'in_progress');
create index calls_queued on calls (environment, direction) where status = 'queued';
create index calls_recorded on calls (account_id, sort_at) where recording_file is not null;
create index calls_with_words on calls (account_id, sort_at) where words_erased = 0;
create index calls_by_caller on calls (account_id, from_number);
create index calls_by_called on calls (account_id, to_number);

create table transcript_entries (
  position integer primary key, call_id text not null references calls (id),
  role text not null, text text not null, at integer not null, confidence real) strict;
create index transcript_by_call on transcript_entries (call_id);

create table timeline_entries (
  position integer primary key, call_id text not null references calls (id),
  at integer not null, kind text not null, details text not null) strict;
create index timeline_by_call on timeline_entries (call_id);

create table call_qualities (
  call_id text primary key references calls (id) on delete cascade,
  codec text not null, local text not null, remote text, mos real) strict;

create table sip_traces (
  call_id text primary key references calls (id) on delete cascade,
  messages text not null, is_truncated integer not null, kept_at integer not null) strict;
create index sip_traces_by_time on sip_traces (kept_at);

create table open_dialogs (
  id text primary key, sip_call_id text not null, local_party text not null,
  remote_party text not null, remote_target text not null, routes text not null,
  sequence integer not null, channels text not null, opened_at integer not null,
  invite text) strict;

create table analysis_jobs (
  call_id text primary key references calls (id), environment text not null,
  attempts integer not null, ended_at integer not null, due_at integer not null) strict;
create index analysis_by_time on analysis_jobs (environment, due_at);
`;

/** Sums by day, read in ranges of their key, so that the key is the table. Agent '' stands for all agents of the account. */
const SUMS = `
create table call_days (
  account_id text not null, environment text not null, agent_id text not null,
  day integer not null, direction text not null, status text not null,
  calls integer not null, answered integer not null, missed integer not null,
  billed_seconds integer not null, sentiment_sum real not null, sentiment_count integer not null,
  erased integer not null default 0,
  primary key (agent_id, account_id, environment, day, direction, status)) strict, without rowid;

create table intent_days (
  account_id text not null, environment text not null, agent_id text not null,
  day integer not null, intent text not null, calls integer not null,
  primary key (agent_id, account_id, environment, day, intent)) strict, without rowid;
`;

/**
 * Events, and their deliveries. An endpoint receives the events after its creation: `position` orders events, because
 * clocks may go back. Triggers count deliveries, because counting a million of them takes too long.
 */
const WEBHOOKS = `
create table events (
  position integer primary key autoincrement, id text not null unique,
  account_id text not null references accounts (id), environment text not null,
  kind text not null, call_id text references calls (id), created_at integer not null,
  body text not null) strict;
create index events_by_call on events (call_id);
create index events_by_account on events (account_id, environment, position);
create index events_by_time on events (created_at);
create index events_by_hour on events (created_at / 3600000, position);

create table outbox_cursors (name text primary key, position integer not null) strict;

create table webhook_endpoints (
  id text primary key, account_id text not null references accounts (id),
  environment text not null, url text not null, events text not null,
  description text not null, status text not null, disabled_reason text,
  created_at integer not null, updated_at integer not null, deleted_at integer,
  failures_in_row integer not null, failing_since integer,
  after_position integer not null default 0) strict;
create index endpoints_by_time on webhook_endpoints (account_id, environment, created_at, id);
create index endpoints_disabled on webhook_endpoints (id) where status = 'disabled';
create trigger endpoint_begins after insert on webhook_endpoints begin
  update webhook_endpoints set after_position = (select coalesce(max(position), 0) from events)
  where id = new.id;
end;

create table webhook_deliveries (
  id text primary key, account_id text not null, environment text not null,
  endpoint_id text not null references webhook_endpoints (id) on delete cascade,
  event_id text not null, event_kind text not null, event_at integer not null,
  status text not null, attempts integer not null, next_attempt_at integer,
  last_status_code integer, last_error text,
  created_at integer not null, finished_at integer) strict;
create index deliveries_by_time on webhook_deliveries
  (account_id, environment, created_at, id, endpoint_id);
create index deliveries_failed on webhook_deliveries
  (account_id, environment, created_at, id, endpoint_id) where status = 'failed';
create index deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at, id)
  where status = 'pending';
create index deliveries_over on webhook_deliveries (endpoint_id, status, event_at)
  where status <> 'pending';
create index deliveries_by_endpoint on webhook_deliveries (endpoint_id, created_at, id);
create index deliveries_by_event on webhook_deliveries (event_id);

create table webhook_attempts (
  position integer primary key,
  delivery_id text not null references webhook_deliveries (id) on delete cascade,
  attempt integer not null, at integer not null, duration_ms integer not null,
  status_code integer, error text, response_text text) strict;
create index attempts_by_delivery on webhook_attempts (delivery_id);

create table delivery_counts (
  endpoint_id text not null references webhook_endpoints (id) on delete cascade,
  status text not null, deliveries integer not null,
  primary key (endpoint_id, status)) strict, without rowid;
create trigger delivery_added after insert on webhook_deliveries begin
  insert into delivery_counts values (new.endpoint_id, new.status, 1)
    on conflict do update set deliveries = deliveries + 1;
end;
create trigger delivery_moved after update of status on webhook_deliveries
  when old.status <> new.status begin
  update delivery_counts set deliveries = deliveries - 1
    where endpoint_id = old.endpoint_id and status = old.status;
  insert into delivery_counts values (new.endpoint_id, new.status, 1)
    on conflict do update set deliveries = deliveries + 1;
end;
create trigger delivery_deleted after delete on webhook_deliveries begin
  update delivery_counts set deliveries = deliveries - 1
    where endpoint_id = old.endpoint_id and status = old.status;
end;
`;

const ERASURES = `
create table erasures (
  id text primary key, account_id text not null, environment text, kind text not null,
  asked_by text not null, asked_at integer not null,
  calls integer not null, recordings integer not null, transcripts integer not null,
  finished_at integer) strict;
create index erasures_open on erasures (id) where finished_at is null;

create table erased_calls (
  call_id text primary key, erasure_id text not null, account_id text not null,
  environment text not null, agent_id text not null, started_at integer,
  duration_seconds integer not null, erased_at integer not null) strict, without rowid;
create index erased_calls_by_agent on erased_calls (agent_id, started_at, duration_seconds);

create table noted_erasures (
  call_id text primary key references calls (id) on delete cascade,
  erasure_id text not null) strict, without rowid;
create index noted_erasures_by_order on noted_erasures (erasure_id);

create table erasure_leftovers (
  kind text not null, name text not null, primary key (kind, name)) strict, without rowid;
`;

const SERVER = `
create table rate_counts (
  subject text primary key, window_start integer not null, requests integer not null) strict;
create index rate_counts_by_window on rate_counts (window_start);

create table idempotency_keys (
  account_id text not null, environment text not null, method text not null, path text not null,
  key text not null, fingerprint text not null, status integer not null, body text,
  created_at integer not null,
  primary key (account_id, environment, method, path, key)) strict;
create index idempotency_by_time on idempotency_keys (created_at);

create table secrets (name text primary key, value text not null) strict;

create table probes (id integer primary key, probed_at integer not null) strict;
`;

/** Makes an empty database one of version 0.1.0. A released schema is never changed here. */
export const BASELINE = [ACCOUNTS, CALLS, SUMS, WEBHOOKS, ERASURES, SERVER].join('');
