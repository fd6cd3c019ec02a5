/** Analyses that are still to be made, in SQLite. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import type { AnalysisJob, AnalysisStore, Call } from '../../domain/call/call.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import { Notifier } from '../../lib/clock.ts';
import type { AnalysisJobRow } from '../accounts/usage-rows.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';

function prepareJobs(database: Database) {
  const columns = ['call_id', 'environment', 'attempts', 'ended_at', 'due_at'] as const;
  return {
    insert: database.prepare((take: Take<AnalysisJobRow>) =>
      build
        .insertInto('analysis_jobs')
        .values(takeAll(take, columns))
        .onConflict((conflict) => conflict.doNothing()),
    ),
    due: database.prepare((take: Take<{ environment: string; nowMs: number; limit: number }>) =>
      build
        .selectFrom('analysis_jobs')
        .select(['call_id', 'attempts', 'ended_at'])
        .where('environment', '=', take('environment'))
        .where('due_at', '<=', take('nowMs'))
        .orderBy('due_at')
        .limit(take('limit')),
    ),
    retry: database.prepare((take: Take<{ id: string; due_at: number }>) =>
      build
        .updateTable('analysis_jobs')
        .set({ due_at: take('due_at'), attempts: sql<number>`attempts + 1` })
        .where('call_id', '=', take('id')),
    ),
    delete: database.prepare((take: Take<{ id: string }>) =>
      build.deleteFrom('analysis_jobs').where('call_id', '=', take('id')),
    ),
    any: database.prepare((take: Take<{ environment: string }>) =>
      build
        .selectFrom('analysis_jobs')
        .select('call_id')
        .where('environment', '=', take('environment'))
        .limit(1),
    ),
    count: database.prepare(() =>
      build
        .selectFrom('analysis_jobs')
        .select((expression) => expression.fn.countAll<number>().as('n')),
    ),
    intents: database.prepare((take: Take<{ agentId: string; limit: number }>) =>
      build
        .selectFrom('intent_days')
        .select('intent')
        .where('agent_id', '=', take('agentId'))
        .groupBy('intent')
        .orderBy(sql`sum(calls)`, 'desc')
        .orderBy('intent')
        .limit(take('limit')),
    ),
  };
}

/** Saves a call with its events; the call store's own `update`, run inside the transaction. */
type SaveCall = (call: Call, events: readonly ServiceEvent[]) => void;

/** Keeps analyses to make in SQLite. */
export class SqliteAnalysisStore implements AnalysisStore {
  readonly bell = new Notifier();
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareJobs>;
  #saveCall: SaveCall = () => {
    throw new Error('Cannot finish an analysis: the call store is not connected');
  };

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareJobs(database);
  }

  /** The call store connects itself, because a finished analysis is a change of its call. */
  connect(saveCall: SaveCall): void {
    this.#saveCall = saveCall;
  }

  /** Adds the job of a call that has just ended; inside the transaction that ends it. */
  callEnded(call: Call, endedAt: Date): void {
    const ended_at = endedAt.getTime();
    const { id: call_id, environment } = call;
    this.#statements.insert.run({ call_id, environment, attempts: 0, ended_at, due_at: 0 });
    this.bell.ring();
  }

  due(environment: Environment, now: Date, limit: number): readonly AnalysisJob[] {
    const values = { environment, nowMs: now.getTime(), limit };
    return this.#database
      .read(() => this.#statements.due.all(values))
      .map(({ call_id, attempts, ended_at }) => ({
        callId: call_id,
        attempts,
        endedAt: new Date(ended_at),
      }));
  }

  retryAt(callId: string, dueAt: Date): void {
    this.#database.write(() => this.#statements.retry.run({ id: callId, due_at: dueAt.getTime() }));
  }

  finish(call: Call, events: readonly ServiceEvent[]): void {
    this.#database.write(() => {
      // Whoever takes the job away tells it; nobody else does.
      if (this.#statements.delete.run({ id: call.id }) === 0) return;
      this.#saveCall(call, events);
    });
  }

  intentsOf(agentId: string, limit: number): readonly string[] {
    return this.#database
      .read(() => this.#statements.intents.all({ agentId, limit }))
      .map(({ intent }) => intent);
  }

  isAnyWaiting(environment: Environment): boolean {
    return this.#database.read(() => this.#statements.any.get({ environment })) !== undefined;
  }

  count(): number {
    return this.#database.read(() => this.#statements.count.get({}))?.n ?? 0;
  }
}
