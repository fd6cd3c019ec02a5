/** Sums of calls by quarter hour in SQLite, read from their own tables and never from the calls. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import { type AnswerCounts, sumOfCounts } from '../../domain/analytics/answer-times.ts';
import type { CallSums, QuarterHours, SpanQuery } from '../../domain/analytics/quarter-hours.ts';
import type { ZonedSpan } from '../../domain/analytics/zoned-span.ts';
import { END_REASONS } from '../../domain/call/call.ts';
import type { Queries } from '../queries.ts';
import { type AnswerTimesRow, build } from '../sqlite/schema.ts';
import { EVERY_AGENT } from './call-rollups.ts';

const OUTCOMES = ['calls', 'completed', 'missed', 'failed'] as const;

const TOTALS = [
  ...OUTCOMES,
  ...(['inbound', 'answered', 'billed_seconds', 'met', 'judged'] as const),
  ...(['positive', 'neutral', 'negative'] as const),
  ...END_REASONS,
] as const;

/** Reads one range of a key for each question. */
export class SqliteQuarterHours implements QuarterHours {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async outcomes(scope: Scope, query: SpanQuery) {
    const rows = inSpan('quarter_hours', scope, query.span)
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .select(['quarter_hour as quarterHour', ...OUTCOMES])
      .orderBy('quarter_hour');
    return this.#database.all(rows);
  }

  async totals(scope: Scope, query: SpanQuery): Promise<CallSums> {
    const sums = inSpan('quarter_hours', scope, query.span)
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .select(TOTALS.map((name) => sumOf(name)));
    // A query of sums alone has one row.
    const [row] = await this.#database.all(sums);
    if (row === undefined) throw new TypeError('A query of sums has answered without a row');
    const { billed_seconds: billedSeconds, ...rest } = row;
    return { ...rest, billedSeconds };
  }

  async answers(scope: Scope, query: SpanQuery) {
    const rows = inSpan('answer_times', scope, query.span)
      .where('agent_id', '=', query.agentId ?? EVERY_AGENT)
      .select(['quarter_hour as quarterHour', 'turns']);
    return (await this.#database.all(rows)).map(({ quarterHour, turns }) => ({
      quarterHour,
      counts: countsOf(turns),
    }));
  }

  async agents(scope: Scope, span: ZonedSpan) {
    const agents = build
      .selectFrom('agents')
      .select('id')
      .where('account_id', '=', scope.accountId)
      .where('environment', '=', scope.environment);
    const sums = inSpan('quarter_hours', scope, span)
      .where('agent_id', 'in', agents)
      .select('agent_id as agentId')
      .select(([...OUTCOMES, 'met', 'judged'] as const).map((name) => sumOf(name)))
      .groupBy('agent_id');
    return this.#database.all(sums);
  }
}

/**
 * Adds the turns of a call to those of its quarter hour, for its agent and for all agents of the account together. Runs
 * inside a transaction.
 */
export async function addAnswers(
  database: Queries,
  place: Omit<AnswerTimesRow, 'turns'>,
  counts: AnswerCounts,
): Promise<void> {
  for (const agentId of [place.agent_id, EVERY_AGENT]) {
    const at = { ...place, agent_id: agentId };
    const kept = await database.get(
      build
        .selectFrom('answer_times')
        .select('turns')
        .where('agent_id', '=', at.agent_id)
        .where('account_id', '=', at.account_id)
        .where('environment', '=', at.environment)
        .where('quarter_hour', '=', at.quarter_hour),
    );
    const sum = kept === undefined ? counts : sumOfCounts([countsOf(kept.turns), counts]);
    const turns = Buffer.from(sum.buffer);
    await database.run(build.replaceInto('answer_times').values({ ...at, turns }));
  }
}

/** A copy, which begins where 32-bit numbers may. */
function countsOf(turns: Uint8Array): AnswerCounts {
  return new Uint32Array(new Uint8Array(turns).buffer);
}

function inSpan<Table extends 'quarter_hours' | 'answer_times'>(
  table: Table,
  { accountId, environment }: Scope,
  span: ZonedSpan,
) {
  return build
    .selectFrom<'quarter_hours' | 'answer_times'>(table)
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .where('quarter_hour', '>=', span.from)
    .where('quarter_hour', '<', span.before);
}

function sumOf<Name extends (typeof TOTALS)[number]>(name: Name) {
  return sql<number>`coalesce(sum(${sql.ref(name)}), 0)`.as(name);
}
