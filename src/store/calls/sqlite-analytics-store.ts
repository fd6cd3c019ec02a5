/** Analytics in SQLite, read from the sums by day and by quarter hour and never from the calls. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type {
  CallSums,
  CountedAnswers,
  QuarterHours,
  SpanQuery,
} from '../../domain/analytics/analytics-details.ts';
import type {
  AnalyticsStore,
  DayUsage,
  IntentCount,
  UsageQuery,
} from '../../domain/analytics/analytics-report.ts';
import {
  type AnswerCounts,
  type EngineCounts,
  sumOfCounts,
} from '../../domain/analytics/answer-times.ts';
import type { ZonedSpan } from '../../domain/analytics/period.ts';
import { dateOf } from '../../domain/analytics/period.ts';
import { END_REASONS } from '../../domain/call/call.ts';
import type { CallCost } from '../../domain/call/call-cost.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { inScope, type Queries, SqliteStore } from '../queries.ts';
import { type AnswerTimesRow, build } from '../sqlite/schema.ts';
import { EVERY_AGENT } from './call-rollups.ts';

/** Reads a few hundred rows, however many calls there are. */
export class SqliteAnalyticsStore extends SqliteStore implements AnalyticsStore {
  async days(scope: Scope, query: UsageQuery): Promise<readonly DayUsage[]> {
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
      .where(inScope(scope))
      .where('day', '>=', dayOf(query.firstDay))
      .where('day', '<=', dayOf(query.lastDay))
      .groupBy('day')
      .orderBy('day');
    return (await this.database.all(days)).map(({ day, ...sums }) => ({
      date: dateOf(day * DAY_MS),
      ...sums,
    }));
  }

  async intents(scope: Scope, query: UsageQuery): Promise<readonly IntentCount[]> {
    return this.database.all(
      build
        .selectFrom('intent_days')
        .select(['intent', sql<number>`sum(calls)`.as('count')])
        .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
        .where(inScope(scope))
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

const OUTCOMES = ['calls', 'completed', 'missed', 'failed'] as const;

const TOTALS = [
  ...OUTCOMES,
  ...(['inbound', 'answered', 'billed_seconds', 'met', 'judged'] as const),
  ...(['positive', 'neutral', 'negative'] as const),
  ...END_REASONS,
] as const;

const COUNTS = ['turns', 'recognition', 'model', 'voice'] as const;

type CountColumns = Pick<AnswerTimesRow, (typeof COUNTS)[number]>;

/** Reads one range of a key for each question. */
export class SqliteQuarterHours extends SqliteStore implements QuarterHours {
  async outcomes(scope: Scope, query: SpanQuery) {
    const rows = inSpan('quarter_hours', scope, query.span)
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .select(['quarter_hour as quarterHour', ...OUTCOMES])
      .orderBy('quarter_hour');
    return this.database.all(rows);
  }

  async totals(scope: Scope, query: SpanQuery): Promise<CallSums> {
    const sums = inSpan('quarter_hours', scope, query.span)
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .select(TOTALS.map((name) => sumOf(name)));
    // A query of sums alone has one row.
    const [row] = await this.database.all(sums);
    if (row === undefined) throw new TypeError('A query of sums has answered without a row');
    const { billed_seconds: billedSeconds, ...rest } = row;
    return { ...rest, billedSeconds };
  }

  async answers(scope: Scope, query: SpanQuery) {
    const rows = inSpan('answer_times', scope, query.span)
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .select(['quarter_hour as quarterHour', ...COUNTS]);
    return (await this.database.all(rows)).map((row) => ({
      quarterHour: row.quarterHour,
      ...countedOf(row),
    }));
  }

  async costs(scope: Scope, query: SpanQuery): Promise<readonly CallCost[]> {
    const sums = inSpan('call_costs', scope, query.span)
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .select(['currency', sql<number>`sum(micros)`.as('micros')])
      .groupBy('currency')
      .orderBy('currency');
    return this.database.all(sums);
  }

  async agents(scope: Scope, span: ZonedSpan) {
    const agents = build.selectFrom('agents').select('id').where(inScope(scope));
    const sums = inSpan('quarter_hours', scope, span)
      .where('agent_id', 'in', agents)
      .select('agent_id as agentId')
      .select(([...OUTCOMES, 'met', 'judged'] as const).map((name) => sumOf(name)))
      .groupBy('agent_id');
    return this.database.all(sums);
  }
}

/**
 * Adds a call's answers to the counts of its quarter hour, for its agent and for all agents of the account together. Runs
 * inside a transaction.
 */
export async function addAnswers(
  database: Queries,
  place: Omit<AnswerTimesRow, keyof CountColumns>,
  added: CountedAnswers,
): Promise<void> {
  for (const agentId of [place.agent_id, EVERY_AGENT]) {
    const at = { ...place, agent_id: agentId };
    const kept = await database.get(
      build
        .selectFrom('answer_times')
        .select(COUNTS)
        .where('agent_id', '=', at.agent_id)
        .where('account_id', '=', at.account_id)
        .where('environment', '=', at.environment)
        .where('quarter_hour', '=', at.quarter_hour),
    );
    const sum = kept === undefined ? added : sumOfBoth(countedOf(kept), added);
    await database.run(build.replaceInto('answer_times').values({ ...at, ...columnsOf(sum) }));
  }
}

function sumOfBoth(one: CountedAnswers, other: CountedAnswers): CountedAnswers {
  const counts = sumOfCounts([one.counts, other.counts]);
  if (one.engines === null || other.engines === null) {
    return { counts, engines: one.engines ?? other.engines };
  }
  const [{ recognition, model, voice }, others] = [one.engines, other.engines];
  const engines: EngineCounts = {
    recognition: sumOfCounts([recognition, others.recognition]),
    model: sumOfCounts([model, others.model]),
    voice: sumOfCounts([voice, others.voice]),
  };
  return { counts, engines };
}

function columnsOf({ counts, engines }: CountedAnswers): CountColumns {
  const blob = (of: AnswerCounts | undefined) => (of === undefined ? null : Buffer.from(of.buffer));
  return {
    turns: Buffer.from(counts.buffer),
    recognition: blob(engines?.recognition),
    model: blob(engines?.model),
    voice: blob(engines?.voice),
  };
}

function countedOf({ turns, recognition, model, voice }: CountColumns): CountedAnswers {
  const isCounted = recognition !== null && model !== null && voice !== null;
  const engines = isCounted
    ? { recognition: countsOf(recognition), model: countsOf(model), voice: countsOf(voice) }
    : null;
  return { counts: countsOf(turns), engines };
}

/** A copy, which begins where 32-bit numbers may. */
function countsOf(turns: Uint8Array): AnswerCounts {
  return new Uint32Array(new Uint8Array(turns).buffer);
}

function inSpan<Table extends 'quarter_hours' | 'answer_times' | 'call_costs'>(
  table: Table,
  scope: Scope,
  span: ZonedSpan,
) {
  return build
    .selectFrom<'quarter_hours' | 'answer_times' | 'call_costs'>(table)
    .where(inScope(scope))
    .where('quarter_hour', '>=', span.from)
    .where('quarter_hour', '<', span.before);
}

function sumOf<Name extends (typeof TOTALS)[number]>(name: Name) {
  return sql<number>`coalesce(sum(${sql.ref(name)}), 0)`.as(name);
}
