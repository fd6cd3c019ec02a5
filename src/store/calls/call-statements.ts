/** The statements of the store of calls, compiled once. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type CallRow, type TimelineRow, type TranscriptRow } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { ROLLED_COLUMNS } from './call-rollups.ts';
import { CALL_COLUMNS } from './call-rows.ts';
import { callTextColumns } from './call-text.ts';

/** Reads and writes calls. */
export function prepareCalls(database: Database) {
  return {
    insert: database.prepare((take: Take<CallRow>) =>
      build.insertInto('calls').values(takeAll(take, CALL_COLUMNS)),
    ),
    update: database.prepare((take: Take<CallRow>) =>
      build.updateTable('calls').set(takeAll(take, CALL_COLUMNS)).where('id', '=', take('id')),
    ),
    byId: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('calls').select(CALL_COLUMNS).where('id', '=', take('id')),
    ),
    text: database.prepare((take: Take<Scope & { id: string }>) =>
      build
        .selectFrom('calls')
        .select(callTextColumns())
        .where('id', '=', take('id'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment')),
    ),
    rolled: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('calls').select(ROLLED_COLUMNS).where('id', '=', take('id')),
    ),
    unfinished: database.prepare(() =>
      build
        .selectFrom('calls')
        .select(CALL_COLUMNS)
        // The first condition is the index's own; without it SQLite does not use the index.
        .where(sql<boolean>`status in ('queued', 'ringing', 'in_progress')`)
        .where(sql<boolean>`status <> 'queued'`)
        .orderBy('sort_at')
        .orderBy('id'),
    ),
  };
}

/** Reads the calls that wait to be placed. */
export function prepareQueue(database: Database) {
  return {
    toDial: database.prepare((take: Take<{ environment: string; limit: number }>) =>
      build
        .selectFrom('calls')
        .select(['id', 'from_number as from', 'failure_reason as failureReason', 'expires_at'])
        .where('environment', '=', take('environment'))
        .where('direction', '=', 'outbound')
        .where(sql<boolean>`status = 'queued'`)
        // The order of saving; ids of one millisecond are in no order.
        .orderBy(sql`rowid`)
        .limit(take('limit')),
    ),
    queued: database.prepare(
      (take: Take<{ environment: string; direction: string; limit: number }>) =>
        build
          .selectFrom('calls')
          .select(CALL_COLUMNS)
          .where('environment', '=', take('environment'))
          .where('direction', '=', take('direction'))
          .where(sql<boolean>`status = 'queued'`)
          .orderBy(sql`rowid`)
          .limit(take('limit')),
    ),
    countQueued: database.prepare((take: Take<{ environment: string; direction: string }>) =>
      build
        .selectFrom('calls')
        .select((expression) => expression.fn.countAll<number>().as('n'))
        .where('environment', '=', take('environment'))
        .where('direction', '=', take('direction'))
        .where(sql<boolean>`status = 'queued'`),
    ),
  };
}

/** Reads and writes what was said on a call, and its timeline. */
export function prepareDetails(database: Database) {
  const said = ['role', 'text', 'at', 'confidence'] as const;
  const happened = ['at', 'kind', 'details'] as const;
  return {
    addSaid: database.prepare((take: Take<TranscriptRow>) =>
      build.insertInto('transcript_entries').values(takeAll(take, ['call_id', ...said])),
    ),
    said: database.prepare((take: Take<{ id: string }>) =>
      build
        .selectFrom('transcript_entries')
        .select(said)
        .where('call_id', '=', take('id'))
        // A reply is kept when it is over, and the caller may have spoken meanwhile.
        .orderBy('at')
        .orderBy('position'),
    ),
    addHappened: database.prepare((take: Take<TimelineRow>) =>
      build.insertInto('timeline_entries').values(takeAll(take, ['call_id', ...happened])),
    ),
    happened: database.prepare((take: Take<{ id: string }>) =>
      build
        .selectFrom('timeline_entries')
        .select(happened)
        .where('call_id', '=', take('id'))
        .orderBy('position'),
    ),
  };
}
