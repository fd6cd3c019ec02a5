/** What analytics look like in queries and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { dayCount, NAMED_PERIODS, PERIOD_DAYS_MAX } from '../../domain/analytics/period.ts';
import { day, dayDocs } from './day-schema.ts';

const timestamp = z.iso.datetime();

const count = z.int().min(0);

const minutes = z.number().min(0).openapi({ description: 'One decimal.' });

const seconds = z.number().min(0).openapi({
  description: 'Of calls that were answered and are over, one decimal; 0 when there is none.',
});

export const analyticsSchema = z
  .object({
    period: z.object({
      start: timestamp.openapi({ description: 'The first millisecond of the first day.' }),
      end: timestamp.openapi({
        description: 'The last millisecond of the last day, also while that day is not over.',
      }),
    }),
    summary: z.object({
      totalCalls: count.openapi({
        description: 'As `total` of the list of calls for the same days: calls in progress count.',
      }),
      totalMinutes: minutes,
      inboundCalls: count,
      outboundCalls: count,
      completedCalls: count.openapi({ description: 'Calls with status `completed`.' }),
      missedCalls: count.openapi({ description: 'Calls that ended and were never answered.' }),
      averageDurationSeconds: seconds,
      averageSentimentScore: z.number().min(0).max(1).openapi({
        description:
          'From 0 (bad) to 1 (good), of analysed calls, two decimals; 0 when there is none.',
      }),
    }),
    minutesUsed: minutes.openapi({
      description:
        'Of all agents in the calendar month (UTC) so far; with a test key simulated ones, which cost nothing.',
    }),
    minutesIncluded: z.number().min(0).openapi({ description: 'A calendar month.' }),
    minutesRemaining: minutes.openapi({ description: 'Never less than 0.' }),
    dailyBreakdown: z
      .array(
        z.object({
          date: z.iso.date(),
          calls: count,
          minutes,
          averageDuration: seconds,
        }),
      )
      .openapi({ description: 'Every UTC day of the period, in order, also days without calls.' }),
    topIntents: z
      .array(
        z.object({
          intent: z.string().openapi({ example: 'booking' }),
          count,
          percentage: z.number().min(0).max(100).openapi({
            description: 'Of the calls that have an intent, one decimal.',
          }),
        }),
      )
      .max(10)
      .openapi({ description: 'Most frequent first.' }),
  })
  .openapi('Analytics');

export const analyticsQuerySchema = z
  .strictObject({
    period: z
      .enum([...NAMED_PERIODS, 'custom'])
      .default('last_30_days')
      .openapi({
        param: {
          description: 'Whole UTC days; those that are not over, such as today, are part of it.',
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
  })
  .superRefine((query, context) => {
    for (const [path, message] of wrongDates(query)) {
      context.addIssue({ code: 'custom', path: [path], message });
    }
  });

interface Dates {
  readonly period: string;
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

function wrongDates(query: Dates): readonly (readonly [path: string, message: string])[] {
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
