/** What the second schema has besides tables: indexes, triggers, and what it begins with. */
import { sql } from 'kysely';

/** Each for a question that is asked often. */
export const INDEXES = [
  sql`create index endpoints_by_time on webhook_endpoints (account_id, environment, created_at, id)`,
  sql`create index deliveries_by_time on webhook_deliveries (account_id, environment, created_at, id)`,
  sql`create index deliveries_failed on webhook_deliveries (account_id, environment, created_at, id) where status = 'failed'`,
  sql`create index deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at, id) where status = 'pending'`,
  sql`create index endpoints_disabled on webhook_endpoints (id) where status = 'disabled'`,
  sql`create index deliveries_by_endpoint on webhook_deliveries (endpoint_id, created_at, id)`,
  sql`create index deliveries_by_event on webhook_deliveries (event_id)`,
  sql`create index deliveries_over on webhook_deliveries (endpoint_id, status, event_at) where status <> 'pending'`,
  sql`create index attempts_by_delivery on webhook_attempts (delivery_id)`,
  sql`create index analysis_by_time on analysis_jobs (environment, due_at)`,
  sql`create index idempotency_by_time on idempotency_keys (created_at)`,
  sql`create index calls_queued on calls (environment, direction) where status = 'queued'`,
  // Every filter of a list is answered by the index, so that skipped calls are never read.
  sql`drop index calls_by_time`,
  sql`create index calls_by_time on calls (account_id, environment, sort_at, id, status, direction)`,
  sql`create index api_keys_by_account on api_keys (account_id, environment, created_at)`,
];

/**
 * Lists of deliveries say how many there are; counting a million of them takes too long. And an endpoint is sent what
 * happens after its making: events have an order of their own, clocks may go back.
 */
export const TRIGGERS = [
  sql`create trigger endpoint_begins after insert on webhook_endpoints begin
    update webhook_endpoints set after_position = (select coalesce(max(position), 0) from events)
    where id = new.id; end`,
  sql`create table delivery_counts (
    endpoint_id text not null references webhook_endpoints (id) on delete cascade,
    status text not null, deliveries integer not null,
    primary key (endpoint_id, status)) strict, without rowid`,
  sql`create trigger delivery_added after insert on webhook_deliveries begin
    insert into delivery_counts values (new.endpoint_id, new.status, 1)
      on conflict do update set deliveries = deliveries + 1; end`,
  sql`create trigger delivery_moved after update of status on webhook_deliveries
    when old.status <> new.status begin
    update delivery_counts set deliveries = deliveries - 1
      where endpoint_id = old.endpoint_id and status = old.status;
    insert into delivery_counts values (new.endpoint_id, new.status, 1)
      on conflict do update set deliveries = deliveries + 1; end`,
  sql`create trigger delivery_deleted after delete on webhook_deliveries begin
    update delivery_counts set deliveries = deliveries - 1
      where endpoint_id = old.endpoint_id and status = old.status; end`,
];

/** What was there before is added up, and not sent to endpoints that are registered later. */
export const FILLING = [
  sql`insert into call_days
    select account_id, environment, agent_id, sort_at / 86400000, direction, status, count(*),
      sum(answered_at is not null and ended_at is not null),
      sum(answered_at is null and ended_at is not null),
      sum(duration_seconds), coalesce(sum(sentiment_score), 0), count(sentiment_score)
    from calls group by 1, 2, 3, 4, 5, 6`,
  sql`insert into call_days
    select account_id, environment, '', day, direction, status, sum(calls), sum(answered),
      sum(missed), sum(billed_seconds), sum(sentiment_sum), sum(sentiment_count)
    from call_days group by account_id, environment, day, direction, status`,
  sql`insert into intent_days
    select account_id, environment, agent_id, sort_at / 86400000, intent_detected, count(*)
    from calls where intent_detected is not null group by 1, 2, 3, 4, 5`,
  sql`insert into intent_days
    select account_id, environment, '', day, intent, sum(calls)
    from intent_days group by account_id, environment, day, intent`,
  sql`insert into outbox_cursors values ('webhooks', coalesce((select max(position) from events), 0))`,
];
