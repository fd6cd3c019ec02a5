/** Deletes one call and all that hangs on it; runs inside the transactions of others. */
import { sql } from 'kysely';
import { CallRollups, ROLLED_COLUMNS } from '../calls/call-rollups.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { ERASED_CALL_COLUMNS, type ErasedCallRow, type LeftoverRow } from './erasure-rows.ts';

interface ById {
  readonly id: string;
}

function prepareCalls(database: Database) {
  return {
    find: database.prepare((take: Take<ById>) =>
      build
        .selectFrom('calls')
        .select([...ROLLED_COLUMNS, 'started_at', 'recording_file'])
        .where('id', '=', take('id')),
    ),
    delete: database.prepare((take: Take<ById>) =>
      build.deleteFrom('calls').where('id', '=', take('id')),
    ),
    forgetRecording: database.prepare((take: Take<ById>) =>
      build.updateTable('calls').set({ recording_file: null }).where('id', '=', take('id')),
    ),
    forgetWords: database.prepare((take: Take<ById>) =>
      build
        .updateTable('calls')
        .set({ summary: null, words_erased: 1 })
        .where('id', '=', take('id')),
    ),
    bury: database.prepare((take: Take<ErasedCallRow>) =>
      build.replaceInto('erased_calls').values(takeAll(take, ERASED_CALL_COLUMNS)),
    ),
    leave: database.prepare((take: Take<LeftoverRow>) =>
      build
        .insertInto('erasure_leftovers')
        .values(takeAll(take, ['kind', 'name']))
        .onConflict((conflict) => conflict.doNothing()),
    ),
  };
}

/** What was said on calls, and who was told of it. SIP messages and quality go with the call itself. */
function prepareParts(database: Database) {
  const ofCall = (take: Take<ById>) => sql`(select id from events where call_id = ${take('id')})`;
  return {
    transcript: database.prepare((take: Take<ById>) =>
      build.deleteFrom('transcript_entries').where('call_id', '=', take('id')),
    ),
    timeline: database.prepare((take: Take<ById>) =>
      build.deleteFrom('timeline_entries').where('call_id', '=', take('id')),
    ),
    analysis: database.prepare((take: Take<ById>) =>
      build.deleteFrom('analysis_jobs').where('call_id', '=', take('id')),
    ),
    /** Their attempts go with them. */
    deliveries: database.prepare((take: Take<ById>) =>
      build.deleteFrom('webhook_deliveries').where(sql<boolean>`event_id in ${ofCall(take)}`),
    ),
    events: database.prepare((take: Take<ById>) =>
      build.deleteFrom('events').where('call_id', '=', take('id')),
    ),
  };
}

export class CallErasure {
  readonly #rollups: CallRollups;
  readonly #calls: ReturnType<typeof prepareCalls>;
  readonly #parts: ReturnType<typeof prepareParts>;

  constructor(database: Database) {
    this.#rollups = new CallRollups(database);
    this.#calls = prepareCalls(database);
    this.#parts = prepareParts(database);
  }

  /** The columns that decide about an erasure; undefined when there is no such call. */
  find(id: string) {
    return this.#calls.find.get({ id });
  }

  /**
   * Erases the call. What its webhooks were to tell is not sent any more.
   *
   * @param options.tombstone null leaves none.
   * @returns false where there is no such call.
   */
  erase(
    id: string,
    {
      tombstone,
    }: { readonly tombstone: { readonly erasureId: string; readonly now: Date } | null },
  ): boolean {
    const call = this.find(id);
    if (call === undefined) return false;
    this.#parts.deliveries.run({ id });
    this.#parts.events.run({ id });
    this.#parts.transcript.run({ id });
    this.#parts.timeline.run({ id });
    this.#parts.analysis.run({ id });
    this.#rollups.erased(call);
    this.#calls.delete.run({ id });
    if (call.recording_file !== null) this.#leave('file', call.recording_file);
    this.#leave('pages', tombstone === null ? 'expired' : 'asked');
    if (tombstone === null) return true;
    this.#calls.bury.run({
      call_id: id,
      erasure_id: tombstone.erasureId,
      account_id: call.account_id,
      environment: call.environment,
      agent_id: call.agent_id,
      started_at: call.started_at,
      duration_seconds: call.duration_seconds,
      erased_at: tombstone.now.getTime(),
    });
    return true;
  }

  /** Erases the recording of a call that stays. */
  eraseRecording(id: string): void {
    const file = this.find(id)?.recording_file ?? null;
    if (file === null) return;
    this.#calls.forgetRecording.run({ id });
    this.#leave('file', file);
  }

  /** Erases what was said on a call that stays, its summary, and the events that tell of them. */
  eraseWords(id: string): void {
    this.#parts.deliveries.run({ id });
    this.#parts.events.run({ id });
    this.#parts.transcript.run({ id });
    this.#calls.forgetWords.run({ id });
    this.#leave('pages', 'expired');
  }

  #leave(kind: LeftoverRow['kind'], name: string): void {
    this.#calls.leave.run({ kind, name });
  }
}
