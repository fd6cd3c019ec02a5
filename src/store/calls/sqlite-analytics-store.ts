/** Analytics in SQLite, read from the sums by day and never from the calls. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  AnalyticsStore,
  DayUsage,
  IntentCount,
  UsageQuery,
} from '../../domain/analytics/analytics-report.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';
import { EVERY_AGENT } from './call-rollups.ts';

const DAY_MS = 86_400_000;

/** Reads a few hundred rows, however many calls there are. */
export class SqliteAnalyticsStore implements AnalyticsStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async days({ accountId, environment }: Scope, query: UsageQuery): Promise<readonly DayUsage[]> {
    const days = build
      .selectFrom('call_days')
      .select([
        'day',
        sql<number>`sum(calls)`.as('calls'),
        sql<number>`sum(iif(direction = 'inbound', calls, 0))`.as('inboundCalls'),
        sql<number>`sum(iif(direction = 'outbound', calls, 0))`.as('outboundCalls'),
        sql<number>`sum(iif(status = 'completed', calls, 0))`.as('completedCalls'),
        sql<number>`sum(missed)`.as('missedCalls'),
        sql<number>`sum(answered)`.as('answeredCalls'),
        sql<number>`sum(billed_seconds)`.as('billedSeconds'),
        sql<number>`sum(sentiment_sum)`.as('sentimentSum'),
        sql<number>`sum(sentiment_count)`.as('sentimentCount'),
      ])
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .where('account_id', '=', accountId)
      .where('environment', '=', environment)
      .where('day', '>=', dayOf(query.firstDay))
      .where('day', '<=', dayOf(query.lastDay))
      .groupBy('day')
      .orderBy('day');
    return (await this.#database.all(days)).map(({ day, ...sums }) => ({
      date: dateOf(day),
      ...sums,
    }));
  }

  async intents(
    { accountId, environment }: Scope,
    query: UsageQuery,
  ): Promise<readonly IntentCount[]> {
    return this.#database.all(
      build
        .selectFrom('intent_days')
        .select(['intent', sql<number>`sum(calls)`.as('count')])
        .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
        .where('account_id', '=', accountId)
        .where('environment', '=', environment)
        .where('day', '>=', dayOf(query.firstDay))
        .where('day', '<=', dayOf(query.lastDay))
        .groupBy('intent')
        .orderBy(sql`sum(calls)`, 'desc')
        .orderBy('intent'),
    );
  }
}

/** Days since 1970. */
function dayOf(date: string): number {
  return Date.parse(date) / DAY_MS;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
