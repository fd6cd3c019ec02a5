/** The analytics report of a period: totals, days and top intents; pure */

import type { Scope } from '../agent/agent.ts';
import { daysOf, type Period } from './period.ts';

const TOP_INTENTS_MAX = 10;

type Sums = Omit<DayUsage, 'date'>;

/** Sums of a period, without rounding. */
export interface AnalyticsReport {
  readonly period: Period;
  readonly totals: Sums;
  /** Billed seconds of this calendar month so far, of all agents. */
  readonly monthSeconds: number;
  /** A calendar month. */
  readonly minutesIncluded: number;
  /** Every day of the period, in order. */
  readonly days: readonly DayUsage[];
  /** Most frequent first, ten at most; `share` is of the calls that have an intent, 0 to 1. */
  readonly topIntents: readonly (IntentCount & { readonly share: number })[];
}

const NONE: Sums = {
  calls: 0,
  inboundCalls: 0,
  outboundCalls: 0,
  completedCalls: 0,
  missedCalls: 0,
  answeredCalls: 0,
  billedSeconds: 0,
  sentimentSum: 0,
  sentimentCount: 0,
};

/**
 * @param from.days of the period; those without calls may be missing.
 * @param from.intents of the period, most frequent first, all of them.
 * @param from.month days of the calendar month, of all agents.
 */
export function reportOf(from: {
  readonly period: Period;
  readonly days: readonly DayUsage[];
  readonly intents: readonly IntentCount[];
  readonly month: readonly DayUsage[];
  readonly minutesIncluded: number;
}): AnalyticsReport {
  const { period, days, intents, month, minutesIncluded } = from;
  const byDate = new Map(days.map((day) => [day.date, day]));
  return {
    period,
    totals: sum(days),
    monthSeconds: sum(month).billedSeconds,
    minutesIncluded,
    days: daysOf(period).map((date) => byDate.get(date) ?? { date, ...NONE }),
    topIntents: topIntents(intents),
  };
}

/** `sum` over `count`; 0 when `count` is 0. */
export function average(sum: number, count: number): number {
  return count === 0 ? 0 : sum / count;
}

function sum(days: readonly DayUsage[]): Sums {
  const names = Object.keys(NONE) as (keyof Sums)[];
  const totals = names.map((name) => [name, days.reduce((total, day) => total + day[name], 0)]);
  return Object.fromEntries(totals);
}

function topIntents(intents: readonly IntentCount[]): AnalyticsReport['topIntents'] {
  const withIntent = intents.reduce((total, { count }) => total + count, 0);
  return intents
    .slice(0, TOP_INTENTS_MAX)
    .map(({ intent, count }) => ({ intent, count, share: average(count, withIntent) }));
}

/** One UTC day; days without calls are not there. */
export interface DayUsage {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly calls: number;
  readonly inboundCalls: number;
  readonly outboundCalls: number;
  readonly completedCalls: number;
  /** Ended without ever having been answered. */
  readonly missedCalls: number;
  /** Calls that were answered and are over: average durations are taken over these. */
  readonly answeredCalls: number;
  /** Each call's duration, every started second counted. */
  readonly billedSeconds: number;
  readonly sentimentSum: number;
  readonly sentimentCount: number;
}

/** An intent with its number of calls. */
export interface IntentCount {
  readonly intent: string;
  readonly count: number;
}

/** Days, and an agent, to read sums of. */
export interface UsageQuery {
  readonly agentId?: string;
  /** YYYY-MM-DD, inclusive. */
  readonly firstDay: string;
  /** YYYY-MM-DD, inclusive. */
  readonly lastDay: string;
}

/** Reads the sums of calls by day and by intent. */
export interface AnalyticsStore {
  /** In the order of days. */
  days(scope: Scope, query: UsageQuery): Promise<readonly DayUsage[]>;

  /** Most frequent first, ties by name; all of them. */
  intents(scope: Scope, query: UsageQuery): Promise<readonly IntentCount[]>;
}
