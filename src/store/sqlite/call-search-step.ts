/** The step of the schema that makes calls searchable: an index of their words, tags and notes, and a list index for all filters. */

/**
 * `call_documents` has a row for each call that is over and has words; `call-search.ts` makes it, of the calls that a trigger lists in
 * `call_documents_due`. Triggers keep the index itself, so that no writer can forget to, and what is erased leaves it too: `secure-delete` takes its words out at once. `owner` is in the index because a search
 * must not read the words of other accounts.
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
