/** Calls in SQLite, with what was said on them, their timeline, and the events that they caused. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent.ts';
import {
  type Call,
  type CallQuery,
  type CallStatus,
  type CallStore,
  type CallSummary,
  canMove,
  type TimelineEntry,
  type TranscriptEntry,
} from '../domain/call.ts';
import type { EventStore, ServiceEvent } from '../domain/service-event.ts';
import { CallList } from './call-list.ts';
import {
  CALL_COLUMNS,
  callOf,
  callRowOf,
  eventOf,
  eventRowOf,
  timelineEntryOf,
  timelineRowOf,
  transcriptEntryOf,
  transcriptRowOf,
} from './call-rows.ts';
import type { Database } from './database.ts';
import {
  build,
  type CallRow,
  type EventRow,
  type TimelineRow,
  type TranscriptRow,
} from './schema.ts';
import { type Take, takeAll } from './statement.ts';

const EVENT_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'kind',
  'call_id',
  'created_at',
  'body',
] as const satisfies readonly (keyof EventRow)[];

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
    status: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('calls').select('status').where('id', '=', take('id')),
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
    addEvent: database.prepare((take: Take<EventRow>) =>
      build.insertInto('events').values(takeAll(take, EVENT_COLUMNS)),
    ),
    events: database.prepare((take: Take<{ id: string }>) =>
      build
        .selectFrom('events')
        .select(EVENT_COLUMNS)
        .where('call_id', '=', take('id'))
        .orderBy('position'),
    ),
  };
}

/** Keeps calls in SQLite, and reads the outbox that it writes. */
export class SqliteCallStore implements CallStore, EventStore {
  readonly #database: Database;
  readonly #calls: ReturnType<typeof prepareCalls>;
  readonly #details: ReturnType<typeof prepareDetails>;
  readonly #list: CallList;

  constructor(database: Database) {
    this.#database = database;
    this.#calls = prepareCalls(database);
    this.#details = prepareDetails(database);
    this.#list = new CallList(database);
  }

  insert(call: Call, events: readonly ServiceEvent[]): void {
    this.#database.write(() => {
      this.#calls.insert.run(callRowOf(call));
      this.#addEvents(events);
    });
  }

  update(call: Call, events: readonly ServiceEvent[]): void {
    this.#database.write(() => {
      this.#refuseIllegalMove(call);
      this.#calls.update.run(callRowOf(call));
      this.#addEvents(events);
    });
  }

  addTranscriptEntry(callId: string, entry: TranscriptEntry): void {
    this.#database.write(() => this.#details.addSaid.run(transcriptRowOf(callId, entry)));
  }

  transcript(callId: string): readonly TranscriptEntry[] {
    return this.#database.read(() => this.#details.said.all({ id: callId })).map(transcriptEntryOf);
  }

  addTimelineEntry(callId: string, entry: TimelineEntry): void {
    this.#database.write(() => this.#details.addHappened.run(timelineRowOf(callId, entry)));
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

  listByCall(callId: string): readonly ServiceEvent[] {
    return this.#database.read(() => this.#details.events.all({ id: callId })).map(eventOf);
  }

  #addEvents(events: readonly ServiceEvent[]): void {
    for (const event of events) this.#details.addEvent.run(eventRowOf(event));
  }

  #refuseIllegalMove(call: Call): void {
    const stored = this.#calls.status.get({ id: call.id })?.status as CallStatus | undefined;
    if (stored === undefined) throw new Error(`Cannot save call "${call.id}": it was never kept`);
    if (stored !== call.status && !canMove(stored, call.status)) {
      throw new Error(`Cannot save call "${call.id}" as ${call.status}: it is ${stored}`);
    }
  }
}
