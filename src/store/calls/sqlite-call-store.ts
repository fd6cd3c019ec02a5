/** Calls in SQLite, with what was said on them, their timeline, and the events that they caused. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import {
  type Call,
  type CallDirection,
  type CallQuery,
  type CallStatus,
  type CallStore,
  type CallSummary,
  canMove,
  isOver,
  type TimelineEntry,
  type TranscriptEntry,
  type WaitingParty,
} from '../../domain/call/call.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { dateOf } from '../sqlite/instant.ts';
import type { LiveWatchers } from '../sqlite/live-watchers.ts';
import { build, type CallRow, type TimelineRow, type TranscriptRow } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import type { SqliteEventStore } from '../webhooks/sqlite-event-store.ts';
import { CallList } from './call-list.ts';
import { CallRollups, ROLLED_COLUMNS, type RolledCall } from './call-rollups.ts';
import {
  CALL_COLUMNS,
  callOf,
  callRowOf,
  timelineEntryOf,
  timelineRowOf,
  transcriptEntryOf,
  transcriptRowOf,
} from './call-rows.ts';
import type { SqliteAnalysisStore } from './sqlite-analysis-store.ts';

/** Keeps calls in SQLite; what they add up to and what they cause is written with them. */
export class SqliteCallStore implements CallStore {
  readonly queueBell = new Notifier();
  readonly #database: Database;
  readonly #calls: ReturnType<typeof prepareCalls>;
  readonly #queue: ReturnType<typeof prepareQueue>;
  readonly #details: ReturnType<typeof prepareDetails>;
  readonly #list: CallList;
  readonly #rollups: CallRollups;
  readonly #events: SqliteEventStore;
  readonly #analyses: SqliteAnalysisStore;
  readonly #live: LiveWatchers;

  constructor(
    database: Database,
    beside: {
      readonly events: SqliteEventStore;
      readonly analyses: SqliteAnalysisStore;
      readonly live: LiveWatchers;
    },
  ) {
    this.#database = database;
    this.#calls = prepareCalls(database);
    this.#queue = prepareQueue(database);
    this.#details = prepareDetails(database);
    this.#list = new CallList(database);
    this.#rollups = new CallRollups(database);
    this.#events = beside.events;
    this.#analyses = beside.analyses;
    this.#live = beside.live;
    this.#live.connect((callId) => this.findById(callId));
    this.#analyses.connect((call, events) => this.update(call, events));
  }

  insert(call: Call, events: readonly ServiceEvent[]): void {
    const row = callRowOf(call);
    this.#database.together(() => {
      this.#calls.insert.run(row);
      this.#rollups.added(row);
      this.#events.add(events);
    });
    if (call.status === 'queued') this.queueBell.ring();
    this.#live.changed(call.id);
  }

  update(call: Call, events: readonly ServiceEvent[]): void {
    const row = callRowOf(call);
    this.#database.write(() => {
      const before = this.#stored(call);
      this.#calls.update.run(row);
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
    this.#database.write(() => this.#details.addSaid.run(transcriptRowOf(callId, entry)));
    this.#live.said(callId, entry);
  }

  transcript(callId: string): readonly TranscriptEntry[] {
    return this.#database.read(() => this.#details.said.all({ id: callId })).map(transcriptEntryOf);
  }

  addTimelineEntry(callId: string, entry: TimelineEntry): void {
    this.#database.write(() => this.#details.addHappened.run(timelineRowOf(callId, entry)));
    this.#live.happened(callId, entry);
  }

  timeline(callId: string): readonly TimelineEntry[] {
    return this.#database
      .read(() => this.#details.happened.all({ id: callId }))
      .map(timelineEntryOf);
  }

  find(scope: Scope, callId: string): Call | undefined {
    const call = this.findById(callId);
    const isTheirs = call?.accountId === scope.accountId && call.environment === scope.environment;
    return isTheirs ? call : undefined;
  }

  findById(callId: string): Call | undefined {
    const row = this.#database.read(() => this.#calls.byId.get({ id: callId }));
    return row === undefined ? undefined : callOf(row);
  }

  list(
    scope: Scope,
    query: CallQuery,
  ): { readonly calls: readonly CallSummary[]; readonly total: number } {
    return this.#list.list(scope, query);
  }

  findUnfinished(): readonly Call[] {
    return this.#database.read(() => this.#calls.unfinished.all({})).map(callOf);
  }

  waitingToDial(environment: Environment, limit: number): readonly WaitingParty[] {
    const rows = this.#database.read(() => this.#queue.toDial.all({ environment, limit }));
    return rows.map(({ expires_at, ...party }) => ({ ...party, expiresAt: dateOf(expires_at) }));
  }

  queued(environment: Environment, direction: CallDirection, limit: number): readonly Call[] {
    const values = { environment, direction, limit };
    return this.#database.read(() => this.#queue.queued.all(values)).map(callOf);
  }

  countQueued(environment: Environment, direction: CallDirection): number {
    const values = { environment, direction };
    return this.#database.read(() => this.#queue.countQueued.get(values))?.n ?? 0;
  }

  /** What the call was before. @throws {Error} when it was never kept, or may not move to its new status. */
  #stored(call: Call): RolledCall {
    const before = this.#calls.rolled.get({ id: call.id });
    if (before === undefined) throw new Error(`Cannot save call "${call.id}": it was never kept`);
    const status = before.status as CallStatus;
    if (status !== call.status && !canMove(status, call.status)) {
      throw new Error(`Cannot save call "${call.id}" as ${call.status}: it is ${status}`);
    }
    return before;
  }
}

/** Reads and writes calls. */
function prepareCalls(database: Database) {
  return {
    insert: database.prepare((take: Take<CallRow>) =>
      build.insertInto('calls').values(takeAll(take, CALL_COLUMNS)),
    ),
    update: database.prepare((take: Take<CallRow>) =>
      build.updateTable('calls').set(takeAll(take, CALL_COLUMNS)).where('id', '=', take('id')),
    ),
    byId: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('calls').select(CALL_COLUMNS).where('id', '=', take('id')),
    ),
    rolled: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('calls').select(ROLLED_COLUMNS).where('id', '=', take('id')),
    ),
    unfinished: database.prepare(() =>
      build
        .selectFrom('calls')
        .select(CALL_COLUMNS)
        // The first condition is the index's own; without it SQLite does not use the index.
        .where(sql<boolean>`status in ('queued', 'ringing', 'in_progress')`)
        .where(sql<boolean>`status <> 'queued'`)
        .orderBy('sort_at')
        .orderBy('id'),
    ),
  };
}

/** Reads the calls that wait to be placed. */
function prepareQueue(database: Database) {
  return {
    toDial: database.prepare((take: Take<{ environment: string; limit: number }>) =>
      build
        .selectFrom('calls')
        .select(['id', 'from_number as from', 'failure_reason as failureReason', 'expires_at'])
        .where('environment', '=', take('environment'))
        .where('direction', '=', 'outbound')
        .where(sql<boolean>`status = 'queued'`)
        // The order of saving; ids of one millisecond are in no order.
        .orderBy(sql`rowid`)
        .limit(take('limit')),
    ),
    queued: database.prepare(
      (take: Take<{ environment: string; direction: string; limit: number }>) =>
        build
          .selectFrom('calls')
          .select(CALL_COLUMNS)
          .where('environment', '=', take('environment'))
          .where('direction', '=', take('direction'))
          .where(sql<boolean>`status = 'queued'`)
          .orderBy(sql`rowid`)
          .limit(take('limit')),
    ),
    countQueued: database.prepare((take: Take<{ environment: string; direction: string }>) =>
      build
        .selectFrom('calls')
        .select((expression) => expression.fn.countAll<number>().as('n'))
        .where('environment', '=', take('environment'))
        .where('direction', '=', take('direction'))
        .where(sql<boolean>`status = 'queued'`),
    ),
  };
}

/** Reads and writes what was said on a call, and its timeline. */
function prepareDetails(database: Database) {
  const said = ['role', 'text', 'at', 'confidence'] as const;
  const happened = ['at', 'kind', 'details'] as const;
  return {
    addSaid: database.prepare((take: Take<TranscriptRow>) =>
      build.insertInto('transcript_entries').values(takeAll(take, ['call_id', ...said])),
    ),
    said: database.prepare((take: Take<{ id: string }>) =>
      build
        .selectFrom('transcript_entries')
        .select(said)
        .where('call_id', '=', take('id'))
        // A reply is kept when it is over, and the caller may have spoken meanwhile.
        .orderBy('at')
        .orderBy('position'),
    ),
    addHappened: database.prepare((take: Take<TimelineRow>) =>
      build.insertInto('timeline_entries').values(takeAll(take, ['call_id', ...happened])),
    ),
    happened: database.prepare((take: Take<{ id: string }>) =>
      build
        .selectFrom('timeline_entries')
        .select(happened)
        .where('call_id', '=', take('id'))
        .orderBy('position'),
    ),
  };
}
