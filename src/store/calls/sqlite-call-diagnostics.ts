/** A call's diagnostics in SQLite: SIP trace, packet quality, tags and note. */

import { type CallNote, type CallNoteStore, NO_NOTE } from '../../domain/call/call.ts';
import type { CallQuality, CallQualityStore } from '../../domain/call/call-life.ts';
import type {
  KeptSipTrace,
  SipTrace,
  SipTraceMessage,
  SipTraceStore,
} from '../../domain/call/sip-trace.ts';
import { firstOf, type Queries, SqliteStore } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { build, type SipTraceRow } from '../sqlite/schema.ts';

/** Keeps the SIP messages of calls that are over. */
export class SqliteSipTraceStore extends SqliteStore implements SipTraceStore {
  /** Skips traces of deleted calls. */
  async keep(traces: readonly KeptSipTrace[]): Promise<void> {
    const rows = traces.map(traceRowOf);
    await this.database.transaction(async (transaction) => {
      for (const row of rows) {
        const call = build.selectFrom('calls').select('id').where('id', '=', row.call_id);
        if ((await transaction.get(call)) === undefined) continue;
        await transaction.run(build.replaceInto('sip_traces').values(row));
      }
    });
  }

  async find(callId: string): Promise<SipTrace | undefined> {
    const query = build.selectFrom('sip_traces').selectAll().where('call_id', '=', callId);
    return firstOf(this.database, query, traceOf);
  }
}

/** A message as stored in the column: instants in Unix milliseconds. */
type StoredMessage = Omit<SipTraceMessage, 'at'> & { readonly atMs: number };

function traceRowOf({ callId, messages, isTruncated, keptAt }: KeptSipTrace): SipTraceRow {
  const stored = messages.map(
    ({ at, ...rest }): StoredMessage => ({ ...rest, atMs: at.getTime() }),
  );
  return rowOf({ callId, messages: JSON.stringify(stored), isTruncated, keptAt });
}

function traceOf({ messages, is_truncated: truncated }: SipTraceRow): SipTrace {
  const stored = JSON.parse(messages) as StoredMessage[];
  return {
    messages: stored.map(({ atMs, ...rest }) => ({ ...rest, at: new Date(atMs) })),
    isTruncated: truncated === 1,
  };
}

/** Keeps how well the packets of calls travelled. */
export class SqliteCallQualityStore extends SqliteStore implements CallQualityStore {
  async save(callId: string, quality: CallQuality): Promise<void> {
    const row = { ...rowOf(quality), call_id: callId };
    await this.database.run(build.replaceInto('call_qualities').values(row));
  }

  async find(callId: string): Promise<CallQuality | undefined> {
    const query = build.selectFrom('call_qualities').selectAll().where('call_id', '=', callId);
    const row = await this.database.get(query);
    if (row === undefined) return undefined;
    const quality = recordOf<CallQuality>(row, { json: ['local', 'remote'], without: ['call_id'] });
    // Calls that were saved before this was counted lack it.
    return { ...quality, local: { ...{ packetsUnsent: 0 }, ...quality.local } };
  }
}

/** Operators' tags and notes in SQLite. */
export class SqliteCallNoteStore extends SqliteStore implements CallNoteStore {
  async ofCalls(callIds: readonly string[]): Promise<ReadonlyMap<string, CallNote>> {
    if (callIds.length === 0) return new Map();
    const tags = await this.database.all(
      build.selectFrom('call_tags').selectAll().where('call_id', 'in', callIds).orderBy('tag'),
    );
    const notes = await this.database.all(
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
    return this.database.transaction(async (transaction) => {
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
