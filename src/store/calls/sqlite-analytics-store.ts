/** What calls add up to, read from the sums by day in SQLite and never from the calls. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  AnalyticsStore,
  DayUsage,
  IntentCount,
  UsageQuery,
} from '../../domain/analytics/analytics-report.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';
import { EVERY_AGENT } from './call-rollups.ts';

const DAY_MS = 86_400_000;

/** A range of the sums' key. */
interface Range extends Scope {
  readonly agentId: string;
  readonly firstDay: number;
  readonly lastDay: number;
}

type DayRow = Omit<DayUsage, 'date'> & { readonly day: number };

function prepareSums(database: Database) {
  return {
    days: database.prepare((take: Take<Range>) =>
      build
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
        .where('agent_id', '=', take('agentId'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where('day', '>=', take('firstDay'))
        .where('day', '<=', take('lastDay'))
        .groupBy('day')
        .orderBy('day'),
    ),
    intents: database.prepare((take: Take<Range>) =>
      build
        .selectFrom('intent_days')
        .select(['intent', sql<number>`sum(calls)`.as('count')])
        .where('agent_id', '=', take('agentId'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where('day', '>=', take('firstDay'))
        .where('day', '<=', take('lastDay'))
        .groupBy('intent')
        .orderBy(sql`sum(calls)`, 'desc')
        .orderBy('intent'),
    ),
  };
}

/** Reads a few hundred rows, however many calls there are. */
export class SqliteAnalyticsStore implements AnalyticsStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareSums>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareSums(database);
  }

  days(scope: Scope, query: UsageQuery): readonly DayUsage[] {
    const rows: readonly DayRow[] = this.#database.read(() =>
      this.#statements.days.all(rangeOf(scope, query)),
    );
    return rows.map(({ day, ...sums }) => ({ date: dateOf(day), ...sums }));
  }

  intents(scope: Scope, query: UsageQuery): readonly IntentCount[] {
    return this.#database.read(() => this.#statements.intents.all(rangeOf(scope, query)));
  }
}

function rangeOf({ accountId, environment }: Scope, query: UsageQuery): Range {
  return {
    accountId,
    environment,
    agentId: query.agentId ?? EVERY_AGENT,
    firstDay: dayOf(query.firstDay),
    lastDay: dayOf(query.lastDay),
  };
}

/** Days since 1970. */
function dayOf(date: string): number {
  return Date.parse(date) / DAY_MS;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
