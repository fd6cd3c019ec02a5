/** Rows of the tables of erasures; pure */
import type { Environment } from '../../domain/account/account.ts';
import type {
  ErasureCounts,
  ErasureKind,
  ErasureOrder,
  ErasureRecord,
} from '../../domain/account/erasure.ts';
import { dateOf } from '../sqlite/instant.ts';

export interface ErasureRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string | null;
  readonly kind: string;
  readonly asked_by: string;
  readonly asked_at: number;
  readonly calls: number;
  readonly recordings: number;
  readonly transcripts: number;
  readonly finished_at: number | null;
}

/** A tombstone. */
export interface ErasedCallRow {
  readonly call_id: string;
  readonly erasure_id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly agent_id: string;
  readonly started_at: number | null;
  readonly duration_seconds: number;
  readonly erased_at: number;
}

export interface NotedErasureRow {
  readonly call_id: string;
  readonly erasure_id: string;
}

export interface LeftoverRow {
  /** `file`: a recording to delete. `pages`: the database file is to be written anew. */
  readonly kind: 'file' | 'pages';
  /** Of pages: `asked` or `expired`. */
  readonly name: string;
}

export const ERASURE_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'kind',
  'asked_by',
  'asked_at',
  'calls',
  'recordings',
  'transcripts',
  'finished_at',
] as const satisfies readonly (keyof ErasureRow)[];

export const ERASED_CALL_COLUMNS = [
  'call_id',
  'erasure_id',
  'account_id',
  'environment',
  'agent_id',
  'started_at',
  'duration_seconds',
  'erased_at',
] as const satisfies readonly (keyof ErasedCallRow)[];

const NOTHING: ErasureCounts = { calls: 0, recordings: 0, transcripts: 0 };

/** @param done.finishedAt null while there is more to take. */
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

export function erasureOf(row: ErasureRow): ErasureRecord {
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
