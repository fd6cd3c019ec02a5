/** Erasures in SQLite: one call with all its records, the audit log, noted calls, and leftovers on the disk. */
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
import { isOver } from '../../domain/call/call-life.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Notifier } from '../../lib/clock.ts';
import { rollErased } from '../calls/call-rollups.ts';
import { allOf, type Queries, SqliteStore } from '../queries.ts';
import type { Checkpointer } from '../sqlite/checkpointer.ts';
import type { Database } from '../sqlite/database.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { build, type CallRow, type ErasureRow, type LeftoverRow } from '../sqlite/schema.ts';

/** Condition in the form of the index of open erasures. */
const IS_OPEN = sql<boolean>`finished_at is null`;

/** Keeps erasures in SQLite. */
export class SqliteErasureStore extends SqliteStore implements ErasureStore {
  readonly notifier: Notifier;

  constructor(database: Queries, notifier: Notifier) {
    super(database);
    this.notifier = notifier;
  }

  async erase(callId: string, order: ErasureOrder): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const erasure = new CallErasure(transaction);
      const call = await erasure.find(callId);
      if (call === undefined) {
        throw new ServiceError(
          'CALL_NOT_FOUND',
          'Cannot find the call: there is none with this id',
        );
      }
      if (!isOver(call.status)) refuseLiveCall();
      const recordings = call.recording_file === null ? 0 : 1;
      const counts = { calls: 1, recordings, transcripts: 0 };
      const row = erasureRowOf(order, { counts, finishedAt: order.askedAt });
      await transaction.run(build.insertInto('erasures').values(row));
      await erasure.erase(callId, { erasureId: order.id, now: order.askedAt });
    });
    this.database.onCommit(() => this.notifier.notify());
  }

  async note(selection: NumberSelection, order: ErasureOrder): Promise<NumberCounts> {
    const erasureId = sql<string>`${order.id}`.as('erasure_id');
    const noted = build.selectFrom(callsOf(selection).as('call')).select(['call.id', erasureId]);
    const counts = await this.database.transaction(async (transaction) => {
      await transaction.run(build.insertInto('erasures').values(erasureRowOf(order)));
      await transaction.run(
        build
          .insertInto('noted_erasures')
          .orIgnore()
          .columns(['call_id', 'erasure_id'])
          .expression(noted),
      );
      await new CallErasure(transaction).eraseContacts(selection);
      return new SqliteErasureStore(transaction, this.notifier).count(selection);
    });
    this.database.onCommit(() => this.notifier.notify());
    return counts;
  }

  async count(selection: NumberSelection): Promise<NumberCounts> {
    const isOverWithFile = sql`ended_at is not null and recording_file is not null`;
    const query = build
      .selectFrom(callsOf(selection).as('call'))
      .select([
        sql<number>`coalesce(sum(ended_at is not null), 0)`.as('calls'),
        sql<number>`coalesce(sum(${isOverWithFile}), 0)`.as('recordings'),
        sql<number>`coalesce(sum(ended_at is null), 0)`.as('callsInProgress'),
      ]);
    return (await this.database.get(query)) ?? { calls: 0, recordings: 0, callsInProgress: 0 };
  }

  async eraseNoted(now: Date): Promise<number> {
    const open = build.selectFrom('erasures').select('id').where(IS_OPEN).limit(1);
    if ((await this.database.get(open)) === undefined) return 0;
    const count = await this.database.transaction(async (transaction) => {
      const erasure = new CallErasure(transaction);
      const noted = await transaction.all(notedCalls());
      for (const { call_id, erasure_id: erasureId, has_recording } of noted) {
        await erasure.erase(call_id, { erasureId, now });
        await transaction.run(counted(erasureId, has_recording));
      }
      await transaction.run(closeFinished(now));
      return noted.length;
    });
    if (count > 0) this.database.onCommit(() => this.notifier.notify());
    return count;
  }

  async list(limit: number): Promise<readonly ErasureRecord[]> {
    const query = build.selectFrom('erasures').selectAll();
    const newest = query.orderBy('asked_at', 'desc').orderBy('id', 'desc').limit(limit);
    return allOf(this.database, newest, recordOf<ErasureRecord>);
  }
}

/** Adds one erased call to the erasure's counts. */
function counted(id: string, recordings: number) {
  return build
    .updateTable('erasures')
    .set({ calls: sql<number>`calls + 1`, recordings: sql<number>`recordings + ${recordings}` })
    .where('id', '=', id);
}

/** Finishes the erasures that have no noted call left. */
function closeFinished(now: Date) {
  const isDone = sql<boolean>`not exists (select 1 from noted_erasures where erasure_id = erasures.id)`;
  return build
    .updateTable('erasures')
    .set({ finished_at: now.getTime() })
    .where(IS_OPEN)
    .where(isDone);
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
  return rowOf({ ...order, ...done.counts, finishedAt: done.finishedAt });
}

/** Work on the disk that deleted rows leave: recording files to delete, unused space of the database to overwrite, the log. */
export class SqliteLeftovers {
  readonly #database: Database;
  readonly #checkpointer: () => Checkpointer | undefined;

  /** @param checkpointer The thread that may wait for the disk; undefined while there is none. */
  constructor(database: Database, checkpointer: () => Checkpointer | undefined = () => undefined) {
    this.#database = database;
    this.#checkpointer = checkpointer;
  }

  /** Recordings to delete: paths inside the data folder. */
  files(limit: number): Promise<readonly string[]> {
    return this.#names('file', limit);
  }

  /** The file is gone. */
  async fileGone(file: string): Promise<void> {
    await this.#remove('file', [file]);
  }

  /**
   * Why the database file may hold copies of erased rows in the unused space of its pages, where SQLite leaves them when
   * it moves rows: an order, or retention. Undefined: it holds none.
   */
  async inPages(): Promise<'asked' | 'expired' | undefined> {
    const names = await this.#names('pages', 2);
    return (['asked', 'expired'] as const).find((name) => names.includes(name));
  }

  /** Rewrites the database file without them (`vacuum`): about 5 ms a megabyte, on the calling thread. */
  async compact(): Promise<void> {
    await this.#database.vacuum();
    await this.#remove('pages', ['asked', 'expired']);
  }

  /**
   * Empties SQLite's log, which has rows as they were before they were erased.
   *
   * @returns false when another process reads the database at that moment; it is tried again soon.
   */
  emptyLog(): Promise<boolean> {
    return (this.#checkpointer() ?? this.#database).emptyLog();
  }

  /** Size of the database file. */
  async sizeBytes(): Promise<number> {
    const size = sql<{ bytes: number }>`(select page_count * page_size as bytes
      from pragma_page_count(), pragma_page_size())`;
    return (await this.#database.get(build.selectFrom(size.as('size')).selectAll()))?.bytes ?? 0;
  }

  async #names(kind: LeftoverRow['kind'], limit: number): Promise<readonly string[]> {
    const query = build.selectFrom('erasure_leftovers').select('name').where('kind', '=', kind);
    return allOf(this.#database, query.limit(limit), ({ name }) => name);
  }

  async #remove(kind: LeftoverRow['kind'], names: readonly string[]): Promise<void> {
    const query = build.deleteFrom('erasure_leftovers').where('kind', '=', kind);
    await this.#database.run(query.where('name', 'in', names));
  }
}

/** Order that an erased call's tombstone names, and when it was erased. */
interface Tombstone {
  readonly erasureId: string;
  readonly now: Date;
}

/** Erases calls, recordings and transcripts. Recording files are noted for deletion, and so is unused space of the database. */
export class CallErasure extends SqliteStore {
  async find(id: string): Promise<CallRow | undefined> {
    return this.database.get(build.selectFrom('calls').selectAll().where('id', '=', id));
  }

  /**
   * Erases the call. Its webhooks that are still pending are not sent.
   *
   * @param tombstone Null leaves none.
   */
  async erase(id: string, tombstone: Tombstone | null): Promise<void> {
    const call = await this.find(id);
    if (call === undefined) return;
    await this.#eraseTold(id);
    await this.database.run(build.deleteFrom('timeline_entries').where('call_id', '=', id));
    await this.database.run(build.deleteFrom('analysis_jobs').where('call_id', '=', id));
    await rollErased(this.database, call);
    if (tombstone !== null) {
      // The campaign's contact of the call, with number and metadata.
      await this.database.run(build.deleteFrom('campaign_contacts').where('call_id', '=', id));
    }
    // SIP messages, SMS and quality go with it.
    await this.database.run(build.deleteFrom('calls').where('id', '=', id));
    if (call.recording_file !== null) await this.#leave('file', call.recording_file);
    await this.#leave('pages', tombstone === null ? 'expired' : 'asked');
    if (tombstone === null) return;
    await this.#bury(call, tombstone);
    // Of an expired call they stay until they are over: see `SqliteRetention`.
    await this.database.run(build.deleteFrom('appointments').where('call_id', '=', id));
  }

  /** Takes a number off the lists of campaigns. */
  async eraseContacts({ accountId, environment, number }: NumberSelection): Promise<void> {
    const lists = build.selectFrom('campaigns').select('id').where('account_id', '=', accountId);
    const ofScope = environment === null ? lists : lists.where('environment', '=', environment);
    const contacts = build.deleteFrom('campaign_contacts').where('to', '=', number);
    const erased = await this.database.run(contacts.where('campaign_id', 'in', ofScope));
    if (erased > 0) await this.#leave('pages', 'asked');
  }

  /** Erases the recording of a call that stays. */
  async eraseRecording(id: string): Promise<void> {
    const file = (await this.find(id))?.recording_file ?? null;
    if (file === null) return;
    const forget = build.updateTable('calls').set({ recording_file: null });
    await this.database.run(forget.where('id', '=', id));
    await this.#leave('file', file);
  }

  /** Erases the words of a call that stays: transcript, summary, extracted data, notes, SMS texts, and its events. */
  async eraseWords(id: string): Promise<void> {
    await this.#eraseTold(id);
    const nothing = { summary: null, extracted: null, success: null, words_erased: 1 };
    const forget = build.updateTable('calls').set(nothing);
    await this.database.run(forget.where('id', '=', id));
    await this.database.run(build.deleteFrom('call_notes').where('call_id', '=', id));
    const forgetSms = build.updateTable('sms_messages').set({ text: null });
    await this.database.run(forgetSms.where('call_id', '=', id));
    await this.#leave('pages', 'expired');
  }

  /** Has the unused space of the database overwritten, after other rows were deleted. */
  async leaveExpired(): Promise<void> {
    await this.#leave('pages', 'expired');
  }

  /** The transcript, and the events with their deliveries; the attempts go with these. */
  async #eraseTold(id: string): Promise<void> {
    const events = build.selectFrom('events').select('id').where('call_id', '=', id);
    await this.database.run(build.deleteFrom('webhook_deliveries').where('event_id', 'in', events));
    await this.database.run(build.deleteFrom('events').where('call_id', '=', id));
    await this.database.run(build.deleteFrom('transcript_entries').where('call_id', '=', id));
  }

  async #bury(call: CallRow, { erasureId, now }: Tombstone): Promise<void> {
    await this.database.run(
      build.replaceInto('erased_calls').values({
        call_id: call.id,
        erasure_id: erasureId,
        account_id: call.account_id,
        environment: call.environment,
        agent_id: call.agent_id,
        started_at: call.started_at,
        duration_seconds: call.duration_seconds,
        erased_at: now.getTime(),
      }),
    );
  }

  async #leave(kind: LeftoverRow['kind'], name: string): Promise<void> {
    await this.database.run(
      build.insertInto('erasure_leftovers').orIgnore().values({ kind, name }),
    );
  }
}
