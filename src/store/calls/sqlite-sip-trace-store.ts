/** The SIP messages of calls that are over, in SQLite: one row a call, so that a call costs one write. */
import { sql } from 'kysely';
import type {
  KeptSipTrace,
  SipTrace,
  SipTraceMessage,
  SipTraceStore,
} from '../../domain/call/sip-trace.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type SipTraceRow } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';

const COLUMNS = ['call_id', 'messages', 'is_truncated', 'kept_at'] as const;

/** As it lies in the column: instants in Unix milliseconds. */
type StoredMessage = Omit<SipTraceMessage, 'at'> & { readonly atMs: number };

function prepareTraces(database: Database) {
  return {
    hasCall: database.prepare((take: Take<{ callId: string }>) =>
      build.selectFrom('calls').select('id').where('id', '=', take('callId')),
    ),
    keep: database.prepare((take: Take<SipTraceRow>) =>
      build.replaceInto('sip_traces').values(takeAll(take, COLUMNS)),
    ),
    find: database.prepare((take: Take<{ callId: string }>) =>
      build.selectFrom('sip_traces').select(COLUMNS).where('call_id', '=', take('callId')),
    ),
    prune: database.prepare((take: Take<{ before: number; limit: number }>) =>
      build.deleteFrom('sip_traces').where(
        sql<boolean>`call_id in (select call_id from sip_traces where kept_at < ${take('before')}
          order by kept_at limit ${take('limit')})`,
      ),
    ),
  };
}

export class SqliteSipTraceStore implements SipTraceStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareTraces>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareTraces(database);
  }

  keep(traces: readonly KeptSipTrace[]): void {
    const { hasCall, keep } = this.#statements;
    const rows = traces.map(rowOf);
    this.#database.write(() => {
      for (const row of rows) {
        if (hasCall.get({ callId: row.call_id }) !== undefined) keep.run(row);
      }
    });
  }

  find(callId: string): SipTrace | undefined {
    const row = this.#database.read(() => this.#statements.find.get({ callId }));
    return row === undefined ? undefined : traceOf(row);
  }

  /** For retention, inside its transaction. @returns how many rows went. */
  prune(before: number, limit: number): number {
    return this.#statements.prune.run({ before, limit });
  }
}

function rowOf({ callId, messages, isTruncated, keptAt }: KeptSipTrace): SipTraceRow {
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
