/** Erasures in SQLite: audit log, noted calls, and leftovers on the disk. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import {
  ERASED_CALLS_MAX,
  type ErasureCounts,
  type ErasureKind,
  type ErasureOrder,
  type ErasureRecord,
  type ErasureStore,
  type Leftovers,
  type NumberCounts,
  type NumberSelection,
  refuseLiveCall,
} from '../../domain/account/erasure.ts';
import type { CallStatus } from '../../domain/call/call.ts';
import { isOver } from '../../domain/call/call-life.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { Notifier } from '../../lib/clock.ts';
import type { Checkpointer } from '../sqlite/checkpointer.ts';
import type { Database } from '../sqlite/database.ts';
import { build, dateOf, type ErasureRow, type LeftoverRow } from '../sqlite/schema.ts';
import { CallErasure } from './call-erasure.ts';

/** As the index of open erasures has it. */
const IS_OPEN = sql<boolean>`finished_at is null`;

/** Keeps erasures in SQLite. */
export class SqliteErasureStore implements ErasureStore {
  readonly notifier = new Notifier();
  readonly #database: Database;
  readonly #calls: CallErasure;

  constructor(database: Database) {
    this.#database = database;
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
      this.#add(erasureRowOf(order, { counts, finishedAt: order.askedAt }));
      this.#calls.erase(callId, { tombstone: { erasureId: order.id, now: order.askedAt } });
    });
    this.notifier.notify();
  }

  note(selection: NumberSelection, order: ErasureOrder): NumberCounts {
    const erasureId = sql<string>`${order.id}`.as('erasure_id');
    const noted = build.selectFrom(callsOf(selection).as('call')).select(['call.id', erasureId]);
    const counts = this.#database.together(() => {
      this.#add(erasureRowOf(order));
      this.#database.run(
        build
          .insertInto('noted_erasures')
          .orIgnore()
          .columns(['call_id', 'erasure_id'])
          .expression(noted),
      );
      return this.count(selection);
    });
    this.notifier.notify();
    return counts;
  }

  count(selection: NumberSelection): NumberCounts {
    const isOverWithFile = sql`ended_at is not null and recording_file is not null`;
    const query = build
      .selectFrom(callsOf(selection).as('call'))
      .select([
        sql<number>`coalesce(sum(ended_at is not null), 0)`.as('calls'),
        sql<number>`coalesce(sum(${isOverWithFile}), 0)`.as('recordings'),
        sql<number>`coalesce(sum(ended_at is null), 0)`.as('callsInProgress'),
      ]);
    return this.#database.get(query) ?? { calls: 0, recordings: 0, callsInProgress: 0 };
  }

  eraseNoted(now: Date): number {
    const open = build.selectFrom('erasures').select('id').where(IS_OPEN).limit(1);
    if (this.#database.get(open) === undefined) return 0;
    const count = this.#database.write(() => {
      const noted = this.#database.all(notedCalls());
      for (const { call_id, erasure_id: erasureId, has_recording } of noted) {
        this.#calls.erase(call_id, { tombstone: { erasureId, now } });
        this.#count(erasureId, has_recording);
      }
      this.#close(now);
      return noted.length;
    });
    if (count > 0) this.notifier.notify();
    return count;
  }

  list(limit: number): readonly ErasureRecord[] {
    const query = build.selectFrom('erasures').selectAll();
    const newest = query.orderBy('asked_at', 'desc').orderBy('id', 'desc').limit(limit);
    return this.#database.all(newest).map(erasureOf);
  }

  #add(row: ErasureRow): void {
    this.#database.run(build.insertInto('erasures').values(row));
  }

  /** Adds one erased call to the erasure's counts. */
  #count(id: string, recordings: number): void {
    const counted = build.updateTable('erasures').set({
      calls: sql<number>`calls + 1`,
      recordings: sql<number>`recordings + ${recordings}`,
    });
    this.#database.run(counted.where('id', '=', id));
  }

  /** Finishes the erasures that have no noted call left. */
  #close(now: Date): void {
    const isDone = sql<boolean>`not exists (select 1 from noted_erasures where erasure_id = erasures.id)`;
    const closed = build.updateTable('erasures').set({ finished_at: now.getTime() });
    this.#database.run(closed.where(IS_OPEN).where(isDone));
  }
}

/** The calls from or to a number, by its two indexes. */
function callsOf({ accountId, environment, number }: NumberSelection) {
  const columns = sql.raw('id, ended_at, recording_file');
  const ofAccount = sql`account_id = ${accountId}
    and environment = coalesce(${environment}, environment)`;
  return sql<{ id: string; ended_at: number | null; recording_file: string | null }>`(
    select ${columns} from calls where ${ofAccount} and from_number = ${number}
    union select ${columns} from calls where ${ofAccount} and to_number = ${number})`;
}

/** Noted calls that are over. */
function notedCalls() {
  return build
    .selectFrom('noted_erasures')
    .innerJoin('calls', 'calls.id', 'noted_erasures.call_id')
    .select([
      'noted_erasures.call_id',
      'noted_erasures.erasure_id',
      sql<number>`recording_file is not null`.as('has_recording'),
    ])
    .where('calls.ended_at', 'is not', null)
    .limit(ERASED_CALLS_MAX);
}

const NOTHING: ErasureCounts = { calls: 0, recordings: 0, transcripts: 0 };

/** The row of an erasure. @param done.finishedAt Null while calls are still to be erased. */
export function erasureRowOf(
  order: ErasureOrder,
  done: { readonly counts: ErasureCounts; readonly finishedAt: Date | null } = {
    counts: NOTHING,
    finishedAt: null,
  },
): ErasureRow {
  return {
    id: order.id,
    account_id: order.accountId,
    environment: order.environment,
    kind: order.kind,
    asked_by: order.askedBy,
    asked_at: order.askedAt.getTime(),
    ...done.counts,
    finished_at: done.finishedAt?.getTime() ?? null,
  };
}

function erasureOf(row: ErasureRow): ErasureRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment | null,
    kind: row.kind as ErasureKind,
    askedBy: row.asked_by,
    askedAt: new Date(row.asked_at),
    calls: row.calls,
    recordings: row.recordings,
    transcripts: row.transcripts,
    finishedAt: dateOf(row.finished_at),
  };
}

/** Work on the disk that erasures leave: recording files to delete, and unused space of the database to overwrite. */
export class SqliteLeftovers implements Leftovers {
  readonly #database: Database;
  readonly #checkpointer: () => Checkpointer | undefined;

  /** @param parts.checkpointer The thread that may wait for the disk; undefined while there is none. */
  constructor(
    database: Database,
    parts: { readonly checkpointer: () => Checkpointer | undefined },
  ) {
    this.#database = database;
    this.#checkpointer = parts.checkpointer;
  }

  files(limit: number): readonly string[] {
    return this.#names('file', limit);
  }

  fileGone(file: string): void {
    this.#remove('file', [file]);
  }

  inPages(): 'asked' | 'expired' | undefined {
    const names = this.#names('pages', 2);
    return (['asked', 'expired'] as const).find((name) => names.includes(name));
  }

  compact(): void {
    this.#database.vacuum();
    this.#remove('pages', ['asked', 'expired']);
  }

  async emptyLog(): Promise<boolean> {
    const checkpointer = this.#checkpointer();
    return checkpointer === undefined ? this.#database.emptyLog() : await checkpointer.emptyLog();
  }

  sizeBytes(): number {
    const size = sql<{ bytes: number }>`(select page_count * page_size as bytes
      from pragma_page_count(), pragma_page_size())`;
    return this.#database.get(build.selectFrom(size.as('size')).selectAll())?.bytes ?? 0;
  }

  #names(kind: LeftoverRow['kind'], limit: number): readonly string[] {
    const query = build.selectFrom('erasure_leftovers').select('name').where('kind', '=', kind);
    return this.#database.all(query.limit(limit)).map(({ name }) => name);
  }

  #remove(kind: LeftoverRow['kind'], names: readonly string[]): void {
    const query = build.deleteFrom('erasure_leftovers').where('kind', '=', kind);
    this.#database.run(query.where('name', 'in', names));
  }
}
