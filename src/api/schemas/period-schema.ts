/** The period that analytics are asked for, in queries. */
import { z } from '@hono/zod-openapi';
import {
  dayCount,
  NAMED_PERIODS,
  PERIOD_DAYS_MAX,
  type Period,
  periodOf,
} from '../../domain/analytics/period.ts';
import { day, dayDocs } from './day-schema.ts';

interface Asked {
  readonly period: 'custom' | (typeof NAMED_PERIODS)[number];
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** Fields of the query; `checkDates` has their rules. @param days how the documentation calls the days. */
export function periodFields(days: string) {
  return {
    period: z
      .enum([...NAMED_PERIODS, 'custom'])
      .default('last_30_days')
      .openapi({
        param: {
          description: `${days}; those that are not over, such as today, are part of it.`,
        },
      }),
    agentId: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .openapi({
        param: { description: 'An agent that had no calls, or never was, has zeros.' },
      }),
    startDate: day
      .optional()
      .openapi({ ...dayDocs, param: { description: 'First day of `custom`.' } }),
    endDate: day.optional().openapi({
      ...dayDocs,
      param: { description: `Last day of \`custom\`, of ${PERIOD_DAYS_MAX} days at most.` },
    }),
  };
}

/** Refuses dates that `period` does not take, or that make no period. */
export function checkDates(query: Asked, context: z.core.$RefinementCtx): void {
  for (const [path, message] of wrongDates(query)) {
    context.addIssue({ code: 'custom', path: [path], message });
  }
}

function wrongDates(query: Asked): readonly (readonly [path: string, message: string])[] {
  const { period, startDate, endDate } = query;
  if (period !== 'custom') {
    return (['startDate', 'endDate'] as const)
      .filter((path) => query[path] !== undefined)
      .map((path) => [path, 'expected only with period=custom']);
  }
  if (startDate === undefined || endDate === undefined) {
    return (['startDate', 'endDate'] as const)
      .filter((path) => query[path] === undefined)
      .map((path) => [path, 'expected with period=custom']);
  }
  const days = dayCount({ firstDay: startDate, lastDay: endDate });
  if (days < 1) return [['endDate', 'expected a day that is not before startDate']];
  if (days <= PERIOD_DAYS_MAX) return [];
  return [['endDate', `expected ${PERIOD_DAYS_MAX} days at most, both dates included`]];
}

/** @param now is in the period that `today` means, as UTC. */
export function askedPeriod(query: Asked, now: Date): Period {
  const { period, startDate, endDate } = query;
  if (period !== 'custom') return periodOf(period, now);
  // The schema has seen to it that both are there.
  return { firstDay: String(startDate), lastDay: String(endDate) };
}
