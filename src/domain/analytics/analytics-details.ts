/** Analytics of a period in a time zone, the period before it, and the contract of the store of sums by quarter hour. */

import { DAY_MS } from '../../lib/clock.ts';
import type { Scope } from '../agent/agent.ts';
import { END_REASONS, type EndReason } from '../call/call.ts';
import type { CallCost } from '../call/call-cost.ts';
import {
  ANSWER_SCALE,
  type AnswerCounts,
  type AnswerEngine,
  type AnswerTimes,
  ENGINE_SCALE,
  type EngineCounts,
  type EngineTimes,
  percentilesOf,
  sumOfCounts,
} from './answer-times.ts';
import { daysOf, localOf, type Period, type ZonedSpan } from './period.ts';

const HOURS_OF_DAY = 24;

/** The agents that took most calls are shown. */
const AGENTS_MAX = 50;

type Rows<Name extends keyof QuarterHours> = Awaited<ReturnType<QuarterHours[Name]>>;

/** Sums over the calls of a span of time; null stands for percentiles of nothing. */
export interface Totals {
  readonly sums: CallSums;
  readonly answerTimes: AnswerTimes | null;
  readonly costs: Rows<'costs'>;
}

/** Analytics of a period and of the one before; only percentiles of times are rounded. */
export interface AnalyticsDetails {
  readonly totals: Totals;
  readonly before: Totals;
  /** Every day of the period, in order. */
  readonly days: readonly (Outcomes & {
    readonly date: string;
    readonly answerTimes: AnswerTimes | null;
    readonly engineTimes: EngineTimes;
  })[];
  /** Calls by the 24 hours of the local day. */
  readonly hours: readonly number[];
  /** End reasons that occurred, most frequent first. */
  readonly endReasons: readonly { readonly reason: EndReason; readonly count: number }[];
  /** Most calls first. */
  readonly agents: Rows<'agents'>;
}

/** Rows of a period that `detailsOf` adds up. */
interface DetailsRead {
  readonly period: Period;
  readonly span: ZonedSpan;
  readonly outcomes: Rows<'outcomes'>;
  readonly answers: Rows<'answers'>;
  readonly totals: CallSums;
  readonly costs: Rows<'costs'>;
  readonly before: CallSums;
  readonly answersBefore: Rows<'answers'>;
  readonly costsBefore: Rows<'costs'>;
  readonly agents: Rows<'agents'>;
}

const NONE: Outcomes = { calls: 0, completed: 0, missed: 0, failed: 0 };

/** Adds quarter hours up to days and hours of the span's time zone. */
export function detailsOf(read: DetailsRead): AnalyticsDetails {
  const { period, span, outcomes, answers, totals, before, answersBefore, agents } = read;
  const { costs, costsBefore } = read;
  const dayOf = ({ quarterHour }: { readonly quarterHour: number }) =>
    localOf(span, quarterHour).day;
  const outcomesByDay = Map.groupBy(outcomes, dayOf);
  const answersByDay = Map.groupBy(answers, dayOf);
  return {
    totals: { sums: totals, answerTimes: timesOf(answers), costs },
    before: { sums: before, answerTimes: timesOf(answersBefore), costs: costsBefore },
    days: daysOf(period).map((date) => {
      const day = Date.parse(date) / DAY_MS;
      const sum = (outcomesByDay.get(day) ?? []).reduce(added, NONE);
      const ofDay = answersByDay.get(day) ?? [];
      return { date, ...sum, answerTimes: timesOf(ofDay), engineTimes: engineTimesOf(ofDay) };
    }),
    hours: callsByHour(outcomes, span),
    endReasons: END_REASONS.map((reason) => ({ reason, count: totals[reason] }))
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.count - one.count),
    agents: agents
      .toSorted((one, other) => other.calls - one.calls || (one.agentId < other.agentId ? -1 : 1))
      .slice(0, AGENTS_MAX),
  };
}

function added(sum: Outcomes, { calls, completed, missed, failed }: Outcomes): Outcomes {
  return {
    calls: sum.calls + calls,
    completed: sum.completed + completed,
    missed: sum.missed + missed,
    failed: sum.failed + failed,
  };
}

function callsByHour(outcomes: Rows<'outcomes'>, span: ZonedSpan): readonly number[] {
  const hours = Array.from({ length: HOURS_OF_DAY }, () => 0);
  for (const { quarterHour, calls } of outcomes) {
    const { hour } = localOf(span, quarterHour);
    hours[hour] = (hours[hour] ?? 0) + calls;
  }
  return hours;
}

function timesOf(answers: readonly { readonly counts: AnswerCounts }[]): AnswerTimes | null {
  return percentilesOf(sumOfCounts(answers.map(({ counts }) => counts)), ANSWER_SCALE);
}

function engineTimesOf(answers: Rows<'answers'>): EngineTimes {
  const engines = answers.map((one) => one.engines).filter((one) => one !== null);
  const ofEngine = (engine: AnswerEngine) =>
    percentilesOf(sumOfCounts(engines.map((one) => one[engine])), ENGINE_SCALE);
  return {
    recognition: ofEngine('recognition'),
    model: ofEngine('model'),
    voice: ofEngine('voice'),
  };
}

/** Calls by outcome; calls with none of the three outcomes are not over. */
export interface Outcomes {
  readonly calls: number;
  readonly completed: number;
  /** Ended and never answered. */
  readonly missed: number;
  /** Answered, and broken off by an error. */
  readonly failed: number;
}

/** Sums over calls: outcomes, end reasons, directions, billed time, success, sentiment. */
export interface CallSums extends Outcomes, Readonly<Record<EndReason, number>> {
  readonly inbound: number;
  /** Calls that were answered and are over: average durations are taken over these. */
  readonly answered: number;
  readonly billedSeconds: number;
  /** Calls that met the success criteria of their agent, among the calls that were judged by criteria. */
  readonly met: number;
  readonly judged: number;
  readonly positive: number;
  readonly neutral: number;
  readonly negative: number;
}

/** Counts of times to answer and of engine times; `engines` is null for calls whose engine times were not counted. */
export interface CountedAnswers {
  readonly counts: AnswerCounts;
  readonly engines: EngineCounts | null;
}

/** Since 1970, in UTC. */
interface QuarterHour {
  readonly quarterHour: number;
}

/** Span and agent that sums are read for. */
export interface SpanQuery {
  /** All agents of the account, unless given. */
  readonly agentId?: string | undefined;
  readonly span: ZonedSpan;
}

/** Reads sums of calls by quarter hour, which fit the days of any time zone. */
export interface QuarterHours {
  /** In order; quarter hours without calls are not there. */
  outcomes(scope: Scope, query: SpanQuery): Promise<readonly (Outcomes & QuarterHour)[]>;

  totals(scope: Scope, query: SpanQuery): Promise<CallSums>;

  /** Times to answer of calls that are over. */
  answers(scope: Scope, query: SpanQuery): Promise<readonly (QuarterHour & CountedAnswers)[]>;

  /** Sums of carriers' charges, one for each currency of the calls, by currency code. */
  costs(scope: Scope, query: SpanQuery): Promise<readonly CallCost[]>;

  /** Sums of the agents that exist and had calls. */
  agents(
    scope: Scope,
    span: ZonedSpan,
  ): Promise<
    readonly (Outcomes & Pick<CallSums, 'met' | 'judged'> & { readonly agentId: string })[]
  >;
}
