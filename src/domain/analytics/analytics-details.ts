/** Analytics of a period in a time zone, with the period before it to compare with; pure */
import { END_REASONS, type EndReason } from '../call/call.ts';
import {
  ANSWER_SCALE,
  type AnswerCounts,
  type AnswerTimes,
  ENGINE_SCALE,
  percentilesOf,
  sumOfCounts,
} from './answer-times.ts';
import type { AnswerEngine, EngineTimes } from './engine-times.ts';
import { daysOf, type Period } from './period.ts';
import type { CallSums, Outcomes, QuarterHours } from './quarter-hours.ts';
import { localOf, type ZonedSpan } from './zoned-span.ts';

const DAY_MS = 86_400_000;

const HOURS_OF_DAY = 24;

/** The agents that took most calls are shown. */
const AGENTS_MAX = 50;

type Rows<Name extends keyof QuarterHours> = Awaited<ReturnType<QuarterHours[Name]>>;

/** What the calls of a stretch of time add up to; null stands for percentiles of nothing. */
export interface Totals {
  readonly sums: CallSums;
  readonly answerTimes: AnswerTimes | null;
  readonly costs: Rows<'costs'>;
}

/** Nothing is rounded but times to answer. */
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
  /** Those that there were, most frequent first. */
  readonly endReasons: readonly { readonly reason: EndReason; readonly count: number }[];
  /** Most calls first. */
  readonly agents: Rows<'agents'>;
}

/** What `detailsOf` adds up. */
export interface DetailsRead {
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
