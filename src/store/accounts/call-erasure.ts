/** Deletes one call in SQLite with all its records; runs inside the transactions of others. */
import { CallRollups } from '../calls/call-rollups.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type CallRow, type LeftoverRow } from '../sqlite/schema.ts';

/** Erases calls, recordings and transcripts. Recording files are noted for deletion, and so is unused space of the database. */
export class CallErasure {
  readonly #database: Database;
  readonly #rollups: CallRollups;

  constructor(database: Database) {
    this.#database = database;
    this.#rollups = new CallRollups(database);
  }

  find(id: string): CallRow | undefined {
    return this.#database.get(build.selectFrom('calls').selectAll().where('id', '=', id));
  }

  /**
   * Erases the call. Its webhooks that are still pending are not sent.
   *
   * @param options.tombstone Null leaves none.
   * @returns false when there is no such call.
   */
  erase(
    id: string,
    {
      tombstone,
    }: { readonly tombstone: { readonly erasureId: string; readonly now: Date } | null },
  ): boolean {
    const call = this.find(id);
    if (call === undefined) return false;
    this.#eraseTold(id);
    this.#database.run(build.deleteFrom('timeline_entries').where('call_id', '=', id));
    this.#database.run(build.deleteFrom('analysis_jobs').where('call_id', '=', id));
    this.#rollups.erased(call);
    // SIP messages and quality go with it.
    this.#database.run(build.deleteFrom('calls').where('id', '=', id));
    if (call.recording_file !== null) this.#leave('file', call.recording_file);
    this.#leave('pages', tombstone === null ? 'expired' : 'asked');
    if (tombstone !== null) this.#bury(call, tombstone);
    return true;
  }

  /** Erases the recording of a call that stays. */
  eraseRecording(id: string): void {
    const file = this.find(id)?.recording_file ?? null;
    if (file === null) return;
    const forget = build.updateTable('calls').set({ recording_file: null });
    this.#database.run(forget.where('id', '=', id));
    this.#leave('file', file);
  }

  /** Erases the transcript and the summary of a call that stays, and the events that contain them. */
  eraseWords(id: string): void {
    this.#eraseTold(id);
    const forget = build.updateTable('calls').set({ summary: null, words_erased: 1 });
    this.#database.run(forget.where('id', '=', id));
    this.#leave('pages', 'expired');
  }

  /** The transcript, and the events with their deliveries; the attempts go with these. */
  #eraseTold(id: string): void {
    const events = build.selectFrom('events').select('id').where('call_id', '=', id);
    this.#database.run(build.deleteFrom('webhook_deliveries').where('event_id', 'in', events));
    this.#database.run(build.deleteFrom('events').where('call_id', '=', id));
    this.#database.run(build.deleteFrom('transcript_entries').where('call_id', '=', id));
  }

  #bury(
    call: CallRow,
    { erasureId, now }: { readonly erasureId: string; readonly now: Date },
  ): void {
    this.#database.run(
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

  #leave(kind: LeftoverRow['kind'], name: string): void {
    this.#database.run(
      build
        .insertInto('erasure_leftovers')
        .values({ kind, name })
        .onConflict((conflict) => conflict.doNothing()),
    );
  }
}
