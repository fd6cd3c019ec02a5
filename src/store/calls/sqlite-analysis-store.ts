/** Analysis jobs in SQLite: one for each answered call that has ended. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import type { AnalysisJob, AnalysisStore, Call } from '../../domain/call/call.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import type { Notifier } from '../../lib/clock.ts';
import { allOf, countOf, type Queries, SqliteStore } from '../queries.ts';
import { recordOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';
import type { StoreFeeds } from '../store-feeds.ts';
import { SqliteCallStore } from './sqlite-call-store.ts';

/** Keeps analysis jobs in SQLite. */
export class SqliteAnalysisStore extends SqliteStore implements AnalysisStore {
  readonly notifier: Notifier;
  readonly #feeds: StoreFeeds;

  constructor(database: Queries, feeds: StoreFeeds) {
    super(database);
    this.notifier = feeds.analyses;
    this.#feeds = feeds;
  }

  async due(environment: Environment, now: Date, limit: number): Promise<readonly AnalysisJob[]> {
    const query = build
      .selectFrom('analysis_jobs')
      .select(['call_id', 'attempts', 'ended_at'])
      .where('environment', '=', environment)
      .where('due_at', '<=', now.getTime())
      .orderBy('due_at')
      .limit(limit);
    return allOf(this.database, query, recordOf<AnalysisJob>);
  }

  async retryAt(callId: string, dueAt: Date): Promise<void> {
    await this.database.run(
      build
        .updateTable('analysis_jobs')
        .set({ due_at: dueAt.getTime(), attempts: sql<number>`attempts + 1` })
        .where('call_id', '=', callId),
    );
  }

  async finish(call: Call, events: readonly ServiceEvent[]): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const job = build.deleteFrom('analysis_jobs').where('call_id', '=', call.id);
      // Only the one that takes the job away may publish its result.
      if ((await transaction.run(job)) > 0)
        await new SqliteCallStore(transaction, this.#feeds).update(call, events);
    });
  }

  async intentsOf(agentId: string, limit: number): Promise<readonly string[]> {
    const query = build
      .selectFrom('intent_days')
      .select('intent')
      .where('agent_id', '=', agentId)
      .groupBy('intent')
      .orderBy(sql`sum(calls)`, 'desc')
      .orderBy('intent')
      .limit(limit);
    return allOf(this.database, query, ({ intent }) => intent);
  }

  async isAnyWaiting(environment: Environment): Promise<boolean> {
    const query = build.selectFrom('analysis_jobs').select('call_id');
    const waiting = query.where('environment', '=', environment).limit(1);
    return (await this.database.get(waiting)) !== undefined;
  }

  count(): Promise<number> {
    return countOf(this.database, build.selectFrom('analysis_jobs'));
  }
}
