/** Calls in SQLite, with their transcripts, timelines, events and open SIP dialogs. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import { isSameScope, type Scope } from '../../domain/agent/agent.ts';
import {
  ANSWER_SCALE,
  answerTimesOf,
  countEngines,
  countTimes,
} from '../../domain/analytics/answer-times.ts';
import type {
  Call,
  CallChange,
  CallDirection,
  CallList,
  CallQuery,
  CallStore,
  CallSummary,
  TimelineEntry,
  TranscriptEntry,
  WaitingParty,
} from '../../domain/call/call.ts';
import { canMove, isOver } from '../../domain/call/call-life.ts';
import type { DialogStore, OpenDialog } from '../../domain/call/open-dialog.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import type { Notifier } from '../../lib/clock.ts';
import { allOf, countOf, firstOf, type Queries, SqliteStore } from '../queries.ts';
import { readerOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build, type CallRow, type TranscriptRow } from '../sqlite/schema.ts';
import type { StoreFeeds } from '../store-feeds.ts';
import { SqliteEventStore } from '../webhooks/sqlite-webhook-stores.ts';
import { callOf, listCalls } from './call-list.ts';
import { quarterHourOf, rollUp } from './call-rollups.ts';
import { addAnswers } from './sqlite-analytics-store.ts';

/** Keeps calls in SQLite; their sums, events and analysis jobs are written in the same transaction. */
export class SqliteCallStore extends SqliteStore implements CallStore {
  readonly queueNotifier: Notifier;
  readonly #feeds: StoreFeeds;

  constructor(database: Queries, feeds: StoreFeeds) {
    super(database);
    this.queueNotifier = feeds.queue;
    this.#feeds = feeds;
  }

  async insert(call: Call, events: readonly ServiceEvent[]): Promise<void> {
    const row = callRowOf(call);
    await this.database.transaction(async (transaction) => {
      await transaction.run(build.insertInto('calls').values(row));
      await rollUp(transaction, undefined, row);
      await new SqliteEventStore(transaction, this.#feeds.events).add(events);
      transaction.onCommit(() => {
        if (call.status === 'queued') this.queueNotifier.notify();
        this.#feeds.live.changed(call.id);
      });
    });
  }

  async update(call: Call, events: readonly ServiceEvent[]): Promise<void> {
    const row = callRowOf(call);
    await this.database.transaction(async (transaction) => {
      const before = await storedCall(transaction, call);
      await transaction.run(build.updateTable('calls').set(row).where('id', '=', call.id));
      await rollUp(transaction, before, row);
      await new SqliteEventStore(transaction, this.#feeds.events).add(events);
      const isEnding = isOver(call.status) && before.ended_at === null;
      if (isEnding && call.answeredAt !== null && call.endedAt !== null) {
        await addAnalysisJob(transaction, call, call.endedAt);
        await countAnswersOf(transaction, row);
        transaction.onCommit(() => this.#feeds.analyses.notify());
      }
      transaction.onCommit(() => this.#feeds.live.changed(call.id));
    });
  }

  async change(
    callId: string,
    decide: (call: Call) => CallChange | undefined,
  ): Promise<CallChange | undefined> {
    return this.database.transaction(async (transaction) => {
      const calls = new SqliteCallStore(transaction, this.#feeds);
      const call = await calls.findById(callId);
      const change = call && decide(call);
      if (change !== undefined) await calls.update(change.call, change.events);
      return change;
    });
  }

  async addTranscriptEntry(callId: string, entry: TranscriptEntry): Promise<void> {
    const row = transcriptRowOf(callId, entry);
    await this.database.run(build.insertInto('transcript_entries').values(row));
    this.#feeds.live.said(callId, entry);
  }

  async transcript(callId: string): Promise<readonly TranscriptEntry[]> {
    const query = build.selectFrom('transcript_entries').selectAll().where('call_id', '=', callId);
    // A reply is kept when it is over, and the caller may have spoken meanwhile.
    return allOf(this.database, query.orderBy('at').orderBy('position'), transcriptEntryOf);
  }

  async addTimelineEntry(callId: string, entry: TimelineEntry): Promise<void> {
    const row = { ...rowOf(entry), call_id: callId };
    await this.database.run(build.insertInto('timeline_entries').values(row));
    this.#feeds.live.happened(callId, entry);
  }

  async timeline(callId: string): Promise<readonly TimelineEntry[]> {
    return timelineOf(this.database, callId);
  }

  async find(scope: Scope, callId: string): Promise<Call | undefined> {
    const call = await this.findById(callId);
    return call !== undefined && isSameScope(scope, call) ? call : undefined;
  }

  async findById(callId: string): Promise<Call | undefined> {
    const query = build.selectFrom('calls').selectAll().where('id', '=', callId);
    return firstOf(this.database, query, callOf);
  }

  async list(scope: Scope, query: CallQuery): Promise<CallList> {
    return listCalls(this.database, scope, query);
  }

  async findUnfinished(): Promise<readonly Call[]> {
    const query = build
      .selectFrom('calls')
      .selectAll()
      // The same condition as in the index `calls_unfinished`.
      .where(sql<boolean>`status in ('queued', 'ringing', 'in_progress')`)
      .where('status', '<>', 'queued')
      .orderBy('sort_at')
      .orderBy('id');
    return allOf(this.database, query, callOf);
  }

  async waitingToDial(environment: Environment, limit: number): Promise<readonly WaitingParty[]> {
    const query = queuedCalls(environment, 'outbound')
      .select(['id', 'account_id', 'from_number as from', 'to_number as to'])
      .select(['failure_reason', 'not_before_at', 'not_after_at', 'expires_at'])
      .limit(limit);
    return allOf(this.database, query, recordOf<WaitingParty>);
  }

  async queued(
    environment: Environment,
    direction: CallDirection,
    limit: number,
  ): Promise<readonly Call[]> {
    const query = queuedCalls(environment, direction).selectAll().limit(limit);
    return allOf(this.database, query, callOf);
  }

  countQueued(environment: Environment, direction: CallDirection): Promise<number> {
    return countOf(this.database, queuedCalls(environment, direction).clearOrderBy());
  }
}

/** Adds the times to answer of a call that ends now to the counts of its quarter hour. */
async function countAnswersOf(database: Queries, call: CallRow): Promise<void> {
  const timeline = await timelineOf(database, call.id);
  const answersMs = answerTimesOf(timeline);
  if (answersMs.length === 0) return;
  const { agent_id, account_id, environment } = call;
  const place = { agent_id, account_id, environment, quarter_hour: quarterHourOf(call) };
  await addAnswers(database, place, {
    counts: countTimes(answersMs, ANSWER_SCALE),
    engines: countEngines(timeline),
  });
}

async function timelineOf(database: Queries, callId: string): Promise<readonly TimelineEntry[]> {
  const query = build.selectFrom('timeline_entries').selectAll().where('call_id', '=', callId);
  const entryOf = readerOf<TimelineEntry>({ json: ['details'], without: ['call_id', 'position'] });
  return allOf(database, query.orderBy('position'), entryOf);
}

/**
 * The saved state of a call that is about to change.
 *
 * @throws {Error} when it was never saved, or may not move to its new status.
 */
async function storedCall(database: Queries, call: Call): Promise<CallRow> {
  const query = build.selectFrom('calls').selectAll().where('id', '=', call.id);
  const before = await database.get(query);
  if (before === undefined) throw new Error(`Cannot save call "${call.id}": it was never kept`);
  const { status } = before;
  if (status !== call.status && !canMove(status, call.status)) {
    throw new Error(`Cannot save call "${call.id}" as ${call.status}: it is ${status}`);
  }
  return before;
}

/** In the order of saving; ids of one millisecond have no order. */
function queuedCalls(environment: Environment, direction: CallDirection) {
  return (
    build
      .selectFrom('calls')
      .where('environment', '=', environment)
      .where('direction', '=', direction)
      // The same condition as in the index `calls_queued`.
      .where('status', '=', sql.lit('queued'))
      .orderBy(sql`rowid`)
  );
}

function transcriptRowOf(callId: string, { role, text, at, confidence }: TranscriptEntry) {
  return { call_id: callId, role, text, at: at.getTime(), confidence: confidence ?? null };
}

function transcriptEntryOf({ role, text, at, confidence }: TranscriptRow): TranscriptEntry {
  return { role, text, at: new Date(at), ...(confidence === null ? {} : { confidence }) };
}

/** A call, perhaps with the field of lists that is no column. */
type MaybeSummary = Call & Partial<Pick<CallSummary, 'hasTranscript'>>;

function callRowOf({ from, to, hasTranscript: _, ...call }: MaybeSummary): CallRow {
  const numbers = { from_number: from, to_number: to };
  return { ...rowOf(call), ...numbers, sort_at: (call.startedAt ?? call.createdAt).getTime() };
}

/** More than a machine has at a time. */
const DIALOGS_MAX = 100_000;

const JSON_FIELDS = ['routes', 'channels', 'invite', 'price', 'peer'] as const;

/** Keeps open dialogs in SQLite, answered or not: the next process ends dialogs that a crashed one left open. */
export class SqliteDialogStore extends SqliteStore implements DialogStore {
  async save(dialog: OpenDialog): Promise<void> {
    await this.database.run(build.replaceInto('open_dialogs').values(rowOf(dialog)));
  }

  async remove(id: string): Promise<void> {
    await this.database.run(build.deleteFrom('open_dialogs').where('id', '=', id));
  }

  async all(): Promise<readonly OpenDialog[]> {
    const query = build.selectFrom('open_dialogs').selectAll();
    const oldest = query.orderBy('opened_at').orderBy('id').limit(DIALOGS_MAX);
    return allOf(this.database, oldest, readerOf<OpenDialog>({ json: JSON_FIELDS }));
  }
}

/** Runs inside the transaction that ends the call. A call has one job at most. */
async function addAnalysisJob(
  transaction: Queries,
  { id: call_id, environment }: Call,
  endedAt: Date,
): Promise<void> {
  const row = { call_id, environment, attempts: 0, ended_at: endedAt.getTime(), due_at: 0 };
  await transaction.run(build.insertInto('analysis_jobs').orIgnore().values(row));
}
