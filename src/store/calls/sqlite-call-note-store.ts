/** Tags and notes of calls in SQLite; they go with their call. */
import { type CallNote, type CallNoteStore, NO_NOTE } from '../../domain/call/call.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';

/** Operators' tags and notes in SQLite. */
export class SqliteCallNoteStore implements CallNoteStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async ofCalls(callIds: readonly string[]): Promise<ReadonlyMap<string, CallNote>> {
    if (callIds.length === 0) return new Map();
    const tags = await this.#database.all(
      build.selectFrom('call_tags').selectAll().where('call_id', 'in', callIds).orderBy('tag'),
    );
    const notes = await this.#database.all(
      build.selectFrom('call_notes').select(['call_id', 'note']).where('call_id', 'in', callIds),
    );
    const found = new Map<string, CallNote>();
    for (const { call_id: id, note } of notes) found.set(id, { ...NO_NOTE, note });
    for (const { call_id: id, tag } of tags) {
      const before = found.get(id) ?? NO_NOTE;
      found.set(id, { ...before, tags: [...before.tags, tag] });
    }
    return found;
  }

  async change(callId: string, change: Partial<CallNote>): Promise<CallNote> {
    return this.#database.transaction(async (transaction) => {
      if (change.tags !== undefined) await replaceTags(transaction, callId, change.tags);
      if (change.note !== undefined) {
        const row = { call_id: callId, note: change.note };
        await transaction.run(build.replaceInto('call_notes').values(row));
      }
      const notes = await new SqliteCallNoteStore(transaction).ofCalls([callId]);
      return notes.get(callId) ?? NO_NOTE;
    });
  }
}

async function replaceTags(
  transaction: Queries,
  callId: string,
  tags: readonly string[],
): Promise<void> {
  await transaction.run(build.deleteFrom('call_tags').where('call_id', '=', callId));
  const rows = [...new Set(tags)].map((tag) => ({ tag, call_id: callId }));
  if (rows.length > 0) await transaction.run(build.insertInto('call_tags').values(rows));
}
