/** Step 0030 of the schema: campaigns and their contacts. */

export const CAMPAIGNS = `
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
  create index campaign_contacts_calling on campaign_contacts (call_id) where state = 'calling';`;
