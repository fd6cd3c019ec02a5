/** Erases calls in SQLite, with all that hangs on them, and keeps who asked for it. */
import { sql } from 'kysely';
import {
  ERASED_CALLS_MAX,
  type ErasureCounts,
  type ErasureOrder,
  type ErasureRecord,
  type ErasureStore,
  type NumberCounts,
  type NumberSelection,
  refuseLiveCall,
} from '../../domain/account/erasure.ts';
import { type CallStatus, isOver } from '../../domain/call/call.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { CallErasure } from './call-erasure.ts';
import {
  ERASURE_COLUMNS,
  type ErasureRow,
  erasureOf,
  erasureRowOf,
  type NotedErasureRow,
} from './erasure-rows.ts';

interface Noting extends NumberSelection {
  readonly erasureId: string;
}

/** A call that is noted, and by which erasure. */
interface Noted extends NotedErasureRow {
  readonly has_recording: number;
}

/** As the index of open erasures has it. */
const IS_OPEN = sql<boolean>`finished_at is null`;

function prepareErasures(database: Database) {
  return {
    add: database.prepare((take: Take<ErasureRow>) =>
      build.insertInto('erasures').values(takeAll(take, ERASURE_COLUMNS)),
    ),
    count: database.prepare((take: Take<ErasureCounts & { id: string }>) =>
      build
        .updateTable('erasures')
        .set({
          calls: sql<number>`calls + ${take('calls')}`,
          recordings: sql<number>`recordings + ${take('recordings')}`,
          transcripts: sql<number>`transcripts + ${take('transcripts')}`,
        })
        .where('id', '=', take('id')),
    ),
    open: database.prepare(() => build.selectFrom('erasures').select('id').where(IS_OPEN).limit(1)),
    /** Those of which no call is noted any more. */
    close: database.prepare((take: Take<{ now: number }>) =>
      build
        .updateTable('erasures')
        .set({ finished_at: take('now') })
        .where(IS_OPEN)
        .where(
          sql<boolean>`not exists (select 1 from noted_erasures where erasure_id = erasures.id)`,
        ),
    ),
    list: database.prepare((take: Take<{ limit: number }>) =>
      build
        .selectFrom('erasures')
        .select(ERASURE_COLUMNS)
        .orderBy('asked_at', 'desc')
        .orderBy('id', 'desc')
        .limit(take('limit')),
    ),
  };
}

function prepareNotes(database: Database) {
  return {
    note: database.prepare((take: Take<Noting>) =>
      build
        .insertInto('noted_erasures')
        .orIgnore()
        .columns(['call_id', 'erasure_id'])
        .expression(
          build
            .selectFrom(callsOf(take).as('call'))
            .select(['call.id', take('erasureId').as('erasure_id')]),
        ),
    ),
    count: database.prepare((take: Take<NumberSelection>) =>
      build
        .selectFrom(callsOf(take).as('call'))
        .select([
          sql<number>`coalesce(sum(ended_at is not null), 0)`.as('calls'),
          sql<number>`coalesce(sum(ended_at is not null and recording_file is not null), 0)`.as(
            'recordings',
          ),
          sql<number>`coalesce(sum(ended_at is null), 0)`.as('callsInProgress'),
        ]),
    ),
    noted: database.prepare((take: Take<{ limit: number }>) =>
      build
        .selectFrom('noted_erasures')
        // In this order: few calls are noted.
        .crossJoin('calls')
        .whereRef('calls.id', '=', 'noted_erasures.call_id')
        .select([
          'noted_erasures.call_id',
          'noted_erasures.erasure_id',
          sql<number>`recording_file is not null`.as('has_recording'),
        ])
        .where('calls.ended_at', 'is not', sql<null>`null`)
        .limit(take('limit')),
    ),
  };
}

/** The calls from or to a number, by its two indexes. */
function callsOf(take: Take<NumberSelection>) {
  const columns = sql.raw('id, ended_at, recording_file');
  const ofAccount = sql`account_id = ${take('accountId')}
    and environment = coalesce(${take('environment')}, environment)`;
  return sql<{ id: string; ended_at: number | null; recording_file: string | null }>`(
    select ${columns} from calls where ${ofAccount} and from_number = ${take('number')}
    union select ${columns} from calls where ${ofAccount} and to_number = ${take('number')})`;
}

/** Keeps erasures in SQLite. */
export class SqliteErasureStore implements ErasureStore {
  readonly bell = new Notifier();
  readonly #database: Database;
  readonly #erasures: ReturnType<typeof prepareErasures>;
  readonly #notes: ReturnType<typeof prepareNotes>;
  readonly #calls: CallErasure;

  constructor(database: Database) {
    this.#database = database;
    this.#erasures = prepareErasures(database);
    this.#notes = prepareNotes(database);
    this.#calls = new CallErasure(database);
  }

  erase(callId: string, order: ErasureOrder): void {
    this.#database.write(() => {
      const call = this.#calls.find(callId);
      if (call === undefined) {
        throw new ServiceError(
          'CALL_NOT_FOUND',
          'Cannot find the call: there is none with this id',
        );
      }
      if (!isOver(call.status as CallStatus)) refuseLiveCall();
      const recordings = call.recording_file === null ? 0 : 1;
      const counts = { calls: 1, recordings, transcripts: 0 };
      this.#erasures.add.run(erasureRowOf(order, { counts, finishedAt: order.askedAt }));
      this.#calls.erase(callId, { tombstone: { erasureId: order.id, now: order.askedAt } });
    });
    this.bell.ring();
  }

  note(selection: NumberSelection, order: ErasureOrder): NumberCounts {
    const counts = this.#database.together(() => {
      this.#erasures.add.run(erasureRowOf(order));
      this.#notes.note.run({ ...selection, erasureId: order.id });
      return this.count(selection);
    });
    this.bell.ring();
    return counts;
  }

  count(selection: NumberSelection): NumberCounts {
    const none = { calls: 0, recordings: 0, callsInProgress: 0 };
    return this.#database.read(() => this.#notes.count.get(selection)) ?? none;
  }

  eraseNoted(now: Date): number {
    if (this.#database.read(() => this.#erasures.open.get({})) === undefined) return 0;
    const count = this.#database.write(() => {
      const noted = this.#notes.noted.all({ limit: ERASED_CALLS_MAX });
      for (const { call_id, erasure_id: erasureId } of noted) {
        this.#calls.erase(call_id, { tombstone: { erasureId, now } });
      }
      for (const [id, counts] of countsOf(noted)) this.#erasures.count.run({ id, ...counts });
      this.#erasures.close.run({ now: now.getTime() });
      return noted.length;
    });
    if (count > 0) this.bell.ring();
    return count;
  }

  list(limit: number): readonly ErasureRecord[] {
    return this.#database.read(() => this.#erasures.list.all({ limit })).map(erasureOf);
  }
}

/** By erasure. */
function countsOf(noted: readonly Noted[]): ReadonlyMap<string, ErasureCounts> {
  const sums = new Map<string, ErasureCounts>();
  for (const { erasure_id, has_recording } of noted) {
    const { calls = 0, recordings = 0 } = sums.get(erasure_id) ?? {};
    sums.set(erasure_id, {
      calls: calls + 1,
      recordings: recordings + has_recording,
      transcripts: 0,
    });
  }
  return sums;
}
