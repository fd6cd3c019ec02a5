/** Diagnostics of calls in SQLite: the SIP trace and the quality of the packets, one row a call each. */
import type { CallQuality, CallQualityStore } from '../../domain/call/call-life.ts';
import type {
  KeptSipTrace,
  SipTrace,
  SipTraceMessage,
  SipTraceStore,
} from '../../domain/call/sip-trace.ts';
import type { Queries } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { build, type SipTraceRow } from '../sqlite/schema.ts';

/** Keeps the SIP messages of calls that are over. */
export class SqliteSipTraceStore implements SipTraceStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  /** Skips traces of deleted calls. */
  async keep(traces: readonly KeptSipTrace[]): Promise<void> {
    const rows = traces.map(traceRowOf);
    await this.#database.transaction(async (transaction) => {
      for (const row of rows) {
        const call = build.selectFrom('calls').select('id').where('id', '=', row.call_id);
        if ((await transaction.get(call)) === undefined) continue;
        await transaction.run(build.replaceInto('sip_traces').values(row));
      }
    });
  }

  async find(callId: string): Promise<SipTrace | undefined> {
    const query = build.selectFrom('sip_traces').selectAll().where('call_id', '=', callId);
    const row = await this.#database.get(query);
    return row === undefined ? undefined : traceOf(row);
  }
}

/** A message as the column has it: instants in Unix milliseconds. */
type StoredMessage = Omit<SipTraceMessage, 'at'> & { readonly atMs: number };

function traceRowOf({ callId, messages, isTruncated, keptAt }: KeptSipTrace): SipTraceRow {
  const stored = messages.map(({ at, ...rest }): StoredMessage => {
    return { ...rest, atMs: at.getTime() };
  });
  return {
    call_id: callId,
    messages: JSON.stringify(stored),
    is_truncated: isTruncated ? 1 : 0,
    kept_at: keptAt.getTime(),
  };
}

function traceOf({ messages, is_truncated: truncated }: SipTraceRow): SipTrace {
  const stored = JSON.parse(messages) as StoredMessage[];
  return {
    messages: stored.map(({ atMs, ...rest }) => ({ ...rest, at: new Date(atMs) })),
    isTruncated: truncated === 1,
  };
}

/** Keeps how well the packets of calls travelled. */
export class SqliteCallQualityStore implements CallQualityStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async save(callId: string, quality: CallQuality): Promise<void> {
    const row = { ...rowOf(quality), call_id: callId };
    await this.#database.run(build.replaceInto('call_qualities').values(row));
  }

  async find(callId: string): Promise<CallQuality | undefined> {
    const query = build.selectFrom('call_qualities').selectAll().where('call_id', '=', callId);
    const row = await this.#database.get(query);
    if (row === undefined) return undefined;
    const quality = recordOf<CallQuality>(row, { json: ['local', 'remote'], without: ['call_id'] });
    // Calls that were saved before this was counted lack it.
    return { ...quality, local: { ...{ packetsUnsent: 0 }, ...quality.local } };
  }
}
