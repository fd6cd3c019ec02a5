/** Analysis jobs in SQLite: one for each answered call that has ended. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import type { AnalysisJob, AnalysisStore, Call } from '../../domain/call/call.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';

/** Saves a call with its events; the call store's own `update`, run inside the transaction. */
type SaveCall = (call: Call, events: readonly ServiceEvent[]) => void;

/** Keeps analysis jobs in SQLite. */
export class SqliteAnalysisStore implements AnalysisStore {
  readonly notifier = new Notifier();
  readonly #database: Database;
  #saveCall: SaveCall = () => {
    throw new Error('Cannot finish an analysis: the call store is not connected');
  };

  constructor(database: Database) {
    this.#database = database;
  }

  /** Called by the call store, because a finished analysis is a change of its call. */
  connect(saveCall: SaveCall): void {
    this.#saveCall = saveCall;
  }

  /** Adds the job of a call that has just ended; inside the transaction that ends it. */
  callEnded({ id: call_id, environment }: Call, endedAt: Date): void {
    const row = { call_id, environment, attempts: 0, ended_at: endedAt.getTime(), due_at: 0 };
    this.#database.run(
      build
        .insertInto('analysis_jobs')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    );
    this.notifier.notify();
  }

  due(environment: Environment, now: Date, limit: number): readonly AnalysisJob[] {
    const query = build
      .selectFrom('analysis_jobs')
      .select(['call_id', 'attempts', 'ended_at'])
      .where('environment', '=', environment)
      .where('due_at', '<=', now.getTime())
      .orderBy('due_at')
      .limit(limit);
    return this.#database.all(query).map(({ call_id, attempts, ended_at }) => ({
      callId: call_id,
      attempts,
      endedAt: new Date(ended_at),
    }));
  }

  retryAt(callId: string, dueAt: Date): void {
    this.#database.run(
      build
        .updateTable('analysis_jobs')
        .set({ due_at: dueAt.getTime(), attempts: sql<number>`attempts + 1` })
        .where('call_id', '=', callId),
    );
  }

  finish(call: Call, events: readonly ServiceEvent[]): void {
    this.#database.write(() => {
      const job = build.deleteFrom('analysis_jobs').where('call_id', '=', call.id);
      // Only the one that takes the job away may publish its result.
      if (this.#database.run(job) > 0) this.#saveCall(call, events);
    });
  }

  intentsOf(agentId: string, limit: number): readonly string[] {
    const query = build
      .selectFrom('intent_days')
      .select('intent')
      .where('agent_id', '=', agentId)
      .groupBy('intent')
      .orderBy(sql`sum(calls)`, 'desc')
      .orderBy('intent')
      .limit(limit);
    return this.#database.all(query).map(({ intent }) => intent);
  }

  isAnyWaiting(environment: Environment): boolean {
    const query = build.selectFrom('analysis_jobs').select('call_id');
    const waiting = query.where('environment', '=', environment).limit(1);
    return this.#database.get(waiting) !== undefined;
  }

  count(): number {
    const query = build.selectFrom('analysis_jobs');
    const count = query.select((expression) => expression.fn.countAll<number>().as('n'));
    return this.#database.get(count)?.n ?? 0;
  }
}
