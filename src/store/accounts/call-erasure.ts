/** Deletes one call in SQLite with all its records; runs inside the transactions of others. */
import type { NumberSelection } from '../../domain/account/erasure.ts';
import { CallRollups } from '../calls/call-rollups.ts';
import type { Queries } from '../queries.ts';
import { build, type CallRow, type LeftoverRow } from '../sqlite/schema.ts';

/** Erases calls, recordings and transcripts. Recording files are noted for deletion, and so is unused space of the database. */
export class CallErasure {
  readonly #database: Queries;
  readonly #rollups: CallRollups;

  constructor(database: Queries) {
    this.#database = database;
    this.#rollups = new CallRollups(database);
  }

  async find(id: string): Promise<CallRow | undefined> {
    return this.#database.get(build.selectFrom('calls').selectAll().where('id', '=', id));
  }

  /**
   * Erases the call. Its webhooks that are still pending are not sent.
   *
   * @param options.tombstone Null leaves none.
   * @returns false when there is no such call.
   */
  async erase(
    id: string,
    {
      tombstone,
    }: { readonly tombstone: { readonly erasureId: string; readonly now: Date } | null },
  ): Promise<boolean> {
    const call = await this.find(id);
    if (call === undefined) return false;
    await this.#eraseTold(id);
    await this.#database.run(build.deleteFrom('timeline_entries').where('call_id', '=', id));
    await this.#database.run(build.deleteFrom('analysis_jobs').where('call_id', '=', id));
    await this.#rollups.erased(call);
    if (tombstone !== null) await this.#eraseContact(id);
    // SIP messages, SMS and quality go with it.
    await this.#database.run(build.deleteFrom('calls').where('id', '=', id));
    if (call.recording_file !== null) await this.#leave('file', call.recording_file);
    await this.#leave('pages', tombstone === null ? 'expired' : 'asked');
    if (tombstone !== null) await this.#bury(call, tombstone);
    // Of an expired call they stay until they are over: see `SqliteRetention`.
    if (tombstone !== null) {
      await this.#database.run(build.deleteFrom('appointments').where('call_id', '=', id));
    }
    return true;
  }

  /** Takes a number off the lists of campaigns. */
  async eraseContacts({ accountId, environment, number }: NumberSelection): Promise<void> {
    const lists = build.selectFrom('campaigns').select('id').where('account_id', '=', accountId);
    const ofScope = environment === null ? lists : lists.where('environment', '=', environment);
    const contacts = build.deleteFrom('campaign_contacts').where('to', '=', number);
    const erased = await this.#database.run(contacts.where('campaign_id', 'in', ofScope));
    if (erased > 0) await this.#leave('pages', 'asked');
  }

  /** Erases the recording of a call that stays. */
  async eraseRecording(id: string): Promise<void> {
    const file = (await this.find(id))?.recording_file ?? null;
    if (file === null) return;
    const forget = build.updateTable('calls').set({ recording_file: null });
    await this.#database.run(forget.where('id', '=', id));
    await this.#leave('file', file);
  }

  /** Erases the transcript, and what was read out of it, of a call that stays, and the events that contain them. */
  async eraseWords(id: string): Promise<void> {
    await this.#eraseTold(id);
    const forget = build.updateTable('calls').set({
      ...{ summary: null, extracted: null, success: null, words_erased: 1 },
    });
    await this.#database.run(forget.where('id', '=', id));
    await this.#database.run(build.deleteFrom('call_notes').where('call_id', '=', id));
    const forgetSms = build.updateTable('sms_messages').set({ text: null });
    await this.#database.run(forgetSms.where('call_id', '=', id));
    await this.#leave('pages', 'expired');
  }

  /** Has the unused space of the database overwritten, after other rows were deleted. */
  async leaveExpired(): Promise<void> {
    await this.#leave('pages', 'expired');
  }

  /** The transcript, and the events with their deliveries; the attempts go with these. */
  async #eraseTold(id: string): Promise<void> {
    const events = build.selectFrom('events').select('id').where('call_id', '=', id);
    await this.#database.run(
      build.deleteFrom('webhook_deliveries').where('event_id', 'in', events),
    );
    await this.#database.run(build.deleteFrom('events').where('call_id', '=', id));
    await this.#database.run(build.deleteFrom('transcript_entries').where('call_id', '=', id));
  }

  /** What a campaign kept of the call: number and metadata. */
  async #eraseContact(callId: string): Promise<void> {
    await this.#database.run(build.deleteFrom('campaign_contacts').where('call_id', '=', callId));
  }

  async #bury(
    call: CallRow,
    { erasureId, now }: { readonly erasureId: string; readonly now: Date },
  ): Promise<void> {
    await this.#database.run(
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
    await this.#database.run(
      build
        .insertInto('erasure_leftovers')
        .values({ kind, name })
        .onConflict((conflict) => conflict.doNothing()),
    );
  }
}
