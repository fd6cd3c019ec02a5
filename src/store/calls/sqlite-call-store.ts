/** Calls in SQLite, with their transcripts, timelines and events. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  Call,
  CallDirection,
  CallQuery,
  CallStatus,
  CallStore,
  CallSummary,
  TimelineEntry,
  TranscriptEntry,
  WaitingParty,
} from '../../domain/call/call.ts';
import { canMove, isOver } from '../../domain/call/call-life.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import {
  build,
  type CallRow,
  dateOf,
  type TimelineRow,
  type TranscriptRow,
} from '../sqlite/schema.ts';
import type { SqliteEventStore } from '../webhooks/sqlite-event-store.ts';
import { callOf, listCalls } from './call-list.ts';
import { CallRollups, type RolledCall } from './call-rollups.ts';
import type { LiveWatchers } from './live-watchers.ts';
import type { SqliteAnalysisStore } from './sqlite-analysis-store.ts';

/** Keeps calls in SQLite; their sums, events and analysis jobs are written in the same transaction. */
export class SqliteCallStore implements CallStore {
  readonly queueNotifier = new Notifier();
  readonly #database: Database;
  readonly #rollups: CallRollups;
  readonly #events: SqliteEventStore;
  readonly #analyses: SqliteAnalysisStore;
  readonly #live: LiveWatchers;

  constructor(
    database: Database,
    parts: {
      readonly events: SqliteEventStore;
      readonly analyses: SqliteAnalysisStore;
      readonly live: LiveWatchers;
    },
  ) {
    this.#database = database;
    this.#rollups = new CallRollups(database);
    this.#events = parts.events;
    this.#analyses = parts.analyses;
    this.#live = parts.live;
    this.#live.connect((callId) => this.findById(callId));
    this.#analyses.connect((call, events) => this.update(call, events));
  }

  insert(call: Call, events: readonly ServiceEvent[]): void {
    const row = callRowOf(call);
    this.#database.together(() => {
      this.#database.run(build.insertInto('calls').values(row));
      this.#rollups.added(row);
      this.#events.add(events);
    });
    if (call.status === 'queued') this.queueNotifier.notify();
    this.#live.changed(call.id);
  }

  update(call: Call, events: readonly ServiceEvent[]): void {
    const row = callRowOf(call);
    this.#database.write(() => {
      const before = this.#stored(call);
      this.#database.run(build.updateTable('calls').set(row).where('id', '=', call.id));
      this.#rollups.changed(before, row);
      this.#events.add(events);
      const isEnding = isOver(call.status) && before.ended_at === null;
      if (isEnding && call.answeredAt !== null && call.endedAt !== null) {
        this.#analyses.callEnded(call, call.endedAt);
      }
    });
    this.#live.changed(call.id);
  }

  addTranscriptEntry(callId: string, entry: TranscriptEntry): void {
    const row = transcriptRowOf(callId, entry);
    this.#database.run(build.insertInto('transcript_entries').values(row));
    this.#live.said(callId, entry);
  }

  transcript(callId: string): readonly TranscriptEntry[] {
    const query = build.selectFrom('transcript_entries').selectAll().where('call_id', '=', callId);
    // A reply is kept when it is over, and the caller may have spoken meanwhile.
    return this.#database.all(query.orderBy('at').orderBy('position')).map(transcriptEntryOf);
  }

  addTimelineEntry(callId: string, entry: TimelineEntry): void {
    const row = timelineRowOf(callId, entry);
    this.#database.run(build.insertInto('timeline_entries').values(row));
    this.#live.happened(callId, entry);
  }

  timeline(callId: string): readonly TimelineEntry[] {
    const query = build.selectFrom('timeline_entries').selectAll().where('call_id', '=', callId);
    return this.#database.all(query.orderBy('position')).map(timelineEntryOf);
  }

  find(scope: Scope, callId: string): Call | undefined {
    const call = this.findById(callId);
    const isTheirs = call?.accountId === scope.accountId && call.environment === scope.environment;
    return isTheirs ? call : undefined;
  }

  findById(callId: string): Call | undefined {
    const row = this.#database.get(build.selectFrom('calls').selectAll().where('id', '=', callId));
    return row === undefined ? undefined : callOf(row);
  }

  list(
    scope: Scope,
    query: CallQuery,
  ): { readonly calls: readonly CallSummary[]; readonly total: number } {
    return listCalls(this.#database, scope, query);
  }

  findUnfinished(): readonly Call[] {
    const query = build
      .selectFrom('calls')
      .selectAll()
      // As the index `calls_unfinished` has it.
      .where(sql<boolean>`status in ('queued', 'ringing', 'in_progress')`)
      .where('status', '<>', 'queued')
      .orderBy('sort_at')
      .orderBy('id');
    return this.#database.all(query).map(callOf);
  }

  waitingToDial(environment: Environment, limit: number): readonly WaitingParty[] {
    const query = queuedCalls(environment, 'outbound')
      .select(['id', 'from_number as from', 'failure_reason as failureReason', 'expires_at'])
      .limit(limit);
    return this.#database
      .all(query)
      .map(({ expires_at, ...party }) => ({ ...party, expiresAt: dateOf(expires_at) }));
  }

  queued(environment: Environment, direction: CallDirection, limit: number): readonly Call[] {
    return this.#database
      .all(queuedCalls(environment, direction).selectAll().limit(limit))
      .map(callOf);
  }

  countQueued(environment: Environment, direction: CallDirection): number {
    const query = queuedCalls(environment, direction).clearOrderBy();
    const count = query.select((expression) => expression.fn.countAll<number>().as('n'));
    return this.#database.get(count)?.n ?? 0;
  }

  /**
   * The saved state of a call that is about to change.
   *
   * @throws {Error} when it was never saved, or may not move to its new status.
   */
  #stored(call: Call): RolledCall {
    const query = build.selectFrom('calls').selectAll().where('id', '=', call.id);
    const before = this.#database.get(query);
    if (before === undefined) throw new Error(`Cannot save call "${call.id}": it was never kept`);
    const status = before.status as CallStatus;
    if (status !== call.status && !canMove(status, call.status)) {
      throw new Error(`Cannot save call "${call.id}" as ${call.status}: it is ${status}`);
    }
    return before;
  }
}

/** In the order of saving; ids of one millisecond have no order. */
function queuedCalls(environment: Environment, direction: CallDirection) {
  return (
    build
      .selectFrom('calls')
      .where('environment', '=', environment)
      .where('direction', '=', direction)
      // As the index `calls_queued` has it.
      .where('status', '=', sql.lit('queued'))
      .orderBy(sql`rowid`)
  );
}

function callRowOf(call: Call): CallRow {
  const created_at = call.createdAt.getTime();
  const started_at = call.startedAt?.getTime() ?? null;
  return {
    id: call.id,
    account_id: call.accountId,
    environment: call.environment,
    agent_id: call.agentId,
    direction: call.direction,
    status: call.status,
    from_number: call.from,
    to_number: call.to,
    created_at,
    started_at,
    answered_at: call.answeredAt?.getTime() ?? null,
    ended_at: call.endedAt?.getTime() ?? null,
    end_reason: call.endReason,
    failure_reason: call.failureReason,
    sip_status: call.sipStatus,
    expires_at: call.expiresAt?.getTime() ?? null,
    duration_seconds: call.durationSeconds,
    carrier_call_sid: call.carrierCallSid,
    recording_file: call.recordingFile,
    recording_truncated: Number(call.recordingTruncated),
    summary: call.summary,
    sentiment: call.sentiment,
    sentiment_score: call.sentimentScore,
    intent_detected: call.intentDetected,
    metadata: JSON.stringify(call.metadata),
    overrides: JSON.stringify(call.overrides),
    scenario: call.scenario,
    sort_at: started_at ?? created_at,
  };
}

function transcriptRowOf(callId: string, entry: TranscriptEntry): TranscriptRow {
  return {
    call_id: callId,
    role: entry.role,
    text: entry.text,
    at: entry.at.getTime(),
    confidence: entry.confidence ?? null,
  };
}

function transcriptEntryOf(row: Omit<TranscriptRow, 'call_id'>): TranscriptEntry {
  return {
    role: row.role as TranscriptEntry['role'],
    text: row.text,
    at: new Date(row.at),
    ...(row.confidence === null ? {} : { confidence: row.confidence }),
  };
}

function timelineRowOf(callId: string, entry: TimelineEntry): TimelineRow {
  const { at, kind, details } = entry;
  return { call_id: callId, at: at.getTime(), kind, details: JSON.stringify(details) };
}

function timelineEntryOf(row: Omit<TimelineRow, 'call_id'>): TimelineEntry {
  return {
    at: new Date(row.at),
    kind: row.kind,
    details: JSON.parse(row.details) as Record<string, unknown>,
  };
}
