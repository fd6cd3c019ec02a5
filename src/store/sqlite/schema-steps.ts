/** Long steps of the schema for `migrate.ts`: the search index of calls, and the sums of calls by quarter hour. */

/**
 * `call_documents` has a row for each ended call with words; `call-list.ts` adds it, for calls that a trigger lists in
 * `call_documents_due`. Triggers maintain the index itself, so that no writer can forget to; erased words leave it too, and
 * `secure-delete` removes them at once. `owner` is in the index because a search must not read the words of other accounts.
 *
 * @see https://sqlite.org/fts5.html#external_content_tables
 */
export const CALL_SEARCH = `
  create table call_notes (
    call_id text primary key references calls (id) on delete cascade,
    note text) strict;
  create table call_tags (
    tag text not null, call_id text not null references calls (id) on delete cascade,
    primary key (tag, call_id)) strict, without rowid;
  create index call_tags_by_call on call_tags (call_id);

  drop index calls_by_time;
  create index calls_by_time on calls (account_id, environment, sort_at, id, status, direction, end_reason, sentiment,
    answered_by, duration_seconds);

  create table call_documents (
    number integer primary key, call_id text not null unique references calls (id) on delete cascade,
    owner text not null, words text not null) strict;
  insert into call_documents (call_id, owner, words)
    select calls.id, calls.account_id || '_' || calls.environment, group_concat(text, char(10))
    from calls join transcript_entries on call_id = calls.id where ended_at is not null group by calls.id
    order by calls.sort_at;
  create table call_documents_due (
    call_id text primary key references calls (id) on delete cascade) strict, without rowid;
  create virtual table call_words using fts5 (owner, words, content = 'call_documents', content_rowid = 'number',
    tokenize = "unicode61 remove_diacritics 2 tokenchars '_'");
  insert into call_words (call_words, rank) values ('secure-delete', 1);
  insert into call_words (call_words) values ('rebuild');

  create trigger call_document_added after insert on call_documents begin
    insert into call_words (rowid, owner, words) values (new.number, new.owner, new.words);
  end;
  create trigger call_document_changed after update on call_documents begin
    insert into call_words (call_words, rowid, owner, words) values ('delete', old.number, old.owner, old.words);
    insert into call_words (rowid, owner, words) values (new.number, new.owner, new.words);
  end;
  create trigger call_document_erased after delete on call_documents begin
    insert into call_words (call_words, rowid, owner, words) values ('delete', old.number, old.owner, old.words);
  end;

  create trigger call_document_is_due after update of ended_at on calls
    when old.ended_at is null and new.ended_at is not null begin
    insert or ignore into call_documents_due (call_id) values (new.id);
  end;
  create trigger call_document_of_late_words after insert on transcript_entries begin
    update call_documents set words = words || char(10) || new.text where call_id = new.call_id;
  end;
  create trigger call_document_of_erased_words after delete on transcript_entries begin
    delete from call_documents where call_id = old.call_id;
  end;`;

/** The longest period of analytics and as long before it, which it is compared with, are added up from the calls there are. */
const BACKFILL_DAYS = 740;

/**
 * Adds the calls that began at `sinceMs` or later up into the empty `quarter_hours`. Times to answer are left out: to
 * read them from old timelines would hold up the start of a large server.
 *
 * @param sinceMs milliseconds since the epoch, as an SQL expression.
 */
export function addUpCallsSince(sinceMs: string): string {
  const reason = (name: string) => `count(*) filter (where end_reason = '${name}')`;
  const mood = (name: string) => `count(*) filter (where sentiment = '${name}')`;
  return `
    insert into quarter_hours
    select agent_id, account_id, environment, sort_at / 900000, count(*),
      count(*) filter (where status = 'completed'),
      count(*) filter (where ended_at is not null and answered_at is null),
      count(*) filter (where status = 'failed' and answered_at is not null),
      count(*) filter (where direction = 'inbound'),
      count(*) filter (where answered_at is not null and ended_at is not null), sum(duration_seconds),
      count(*) filter (where json_extract(success, '$.met')), count(success),
      ${mood('positive')}, ${mood('neutral')}, ${mood('negative')},
      ${reason('user_hangup')}, ${reason('agent_hangup')}, ${reason('timeout')}, ${reason('transferred')},
      ${reason('error')}, ${reason('no_answer')}, ${reason('busy')}
    from calls where sort_at >= ${sinceMs} group by 1, 2, 3, 4;
    insert into quarter_hours
    select '', account_id, environment, quarter_hour, sum(calls), sum(completed), sum(missed), sum(failed),
      sum(inbound), sum(answered), sum(billed_seconds), sum(met), sum(judged), sum(positive), sum(neutral),
      sum(negative), sum(user_hangup), sum(agent_hangup), sum(timeout), sum(transferred), sum(error),
      sum(no_answer), sum(busy)
    from quarter_hours group by 2, 3, 4;`;
}

/** Read in ranges of their keys, as the sums by day are; agent '' stands for all agents of the account. */
export const QUARTER_HOURS = `
  create table quarter_hours (
    agent_id text not null, account_id text not null, environment text not null, quarter_hour integer not null,
    calls integer not null, completed integer not null, missed integer not null, failed integer not null,
    inbound integer not null, answered integer not null, billed_seconds integer not null,
    met integer not null, judged integer not null,
    positive integer not null, neutral integer not null, negative integer not null,
    user_hangup integer not null, agent_hangup integer not null, timeout integer not null,
    transferred integer not null, error integer not null, no_answer integer not null, busy integer not null,
    primary key (agent_id, account_id, environment, quarter_hour)) strict, without rowid;
  -- Turns by bucket of their time to answer: 32-bit numbers, as the machine has them.
  create table answer_times (
    agent_id text not null, account_id text not null, environment text not null, quarter_hour integer not null,
    turns blob not null,
    primary key (agent_id, account_id, environment, quarter_hour)) strict, without rowid;
  ${addUpCallsSince(`(unixepoch() - ${BACKFILL_DAYS} * 86400) * 1000`)}`;
