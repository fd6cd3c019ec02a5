/** Calls in SQLite, with what was said on them, their timeline, and the events that they caused. */
import type { Environment } from '../../domain/account/account.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import {
  type Call,
  type CallDirection,
  type CallQuery,
  type CallStatus,
  type CallStore,
  type CallSummary,
  type CallText,
  canMove,
  isOver,
  type TimelineEntry,
  type TranscriptEntry,
  type WaitingParty,
} from '../../domain/call/call.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import { Notifier } from '../../lib/notifier.ts';
import type { Database } from '../sqlite/database.ts';
import { dateOf } from '../sqlite/instant.ts';
import type { LiveWatchers } from '../sqlite/live-watchers.ts';
import type { SqliteEventStore } from '../webhooks/sqlite-event-store.ts';
import { CallList } from './call-list.ts';
import { CallRollups, type RolledCall } from './call-rollups.ts';
import {
  callOf,
  callRowOf,
  timelineEntryOf,
  timelineRowOf,
  transcriptEntryOf,
  transcriptRowOf,
} from './call-rows.ts';
import { prepareCalls, prepareDetails, prepareQueue } from './call-statements.ts';
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

  findText(scope: Scope, callId: string): CallText | undefined {
    const row = this.#database.read(() => this.#calls.text.get({ ...scope, id: callId }));
    if (row === undefined) return undefined;
    const { has_recording, ...text } = row;
    return { ...text, hasRecording: has_recording === 1 };
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

  listText(scope: Scope, query: CallQuery): { readonly items: string; readonly total: number } {
    return this.#list.listText(scope, query);
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
