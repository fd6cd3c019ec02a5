/** `/api/analytics`: what an account's calls add up to. */
import { z } from '@hono/zod-openapi';
import {
  type AnalyticsReport,
  average,
  reportOf,
} from '../../domain/analytics/analytics-report.ts';
import { periodOf } from '../../domain/analytics/period.ts';
import { type ApiApp, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { describeRoute, jsonResponse } from '../http/describe-route.ts';
import { askedPeriod, checkDates, periodFields } from '../schemas/query-schemas.ts';
import { minutesOf, rounded } from '../serializers.ts';

const timestamp = z.iso.datetime();

const count = z.int().min(0);

const minutes = z.number().min(0).openapi({ description: 'One decimal.' });

const seconds = z.number().min(0).openapi({
  description: 'Of calls that were answered and are over, one decimal; 0 when there is none.',
});

const analyticsSchema = z
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

const analyticsQuerySchema = z.strictObject(periodFields('Whole UTC days')).superRefine(checkDates);

const analyticsRoute = describeRoute('get', '/api/analytics', {
  tag: 'Analytics',
  operationId: 'getAnalytics',
  summary: 'Adds up the calls of a period',
  description:
    'Days are UTC, and a call counts on the day it started, or was asked for while it has not. Minutes are billed by the started second, summed, and shown with one decimal.',
  scope: 'analytics:read',
  request: { query: analyticsQuerySchema },
  responses: {
    200: jsonResponse('The sums of the period, of its days and of its intents.', analyticsSchema),
  },
});

/** Adds `/api/analytics`: totals of a period. */
export function addAnalyticsRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(analyticsRoute, async (context) => {
    const query = context.req.valid('query');
    const scope = scopeOf(context);
    const now = deps.clock.now();
    const period = askedPeriod(query, now);
    const usage = query.agentId === undefined ? period : { ...period, agentId: query.agentId };
    const report = reportOf({
      period,
      days: await deps.analytics.days(scope, usage),
      intents: await deps.analytics.intents(scope, usage),
      month: await deps.analytics.days(scope, periodOf('this_month', now)),
      minutesIncluded: callerOf(context).account.minutesIncluded,
    });
    return context.json(serializeAnalytics(report), 200);
  });
}

/** The report as the API shows it: durations in minutes, shares from 0 to 1. */
export function serializeAnalytics(report: AnalyticsReport): z.infer<typeof analyticsSchema> {
  const { period, totals, minutesIncluded } = report;
  const minutesUsed = minutesOf(report.monthSeconds);
  return {
    period: {
      start: `${period.firstDay}T00:00:00.000Z`,
      end: `${period.lastDay}T23:59:59.999Z`,
    },
    summary: {
      totalCalls: totals.calls,
      totalMinutes: minutesOf(totals.billedSeconds),
      inboundCalls: totals.inboundCalls,
      outboundCalls: totals.outboundCalls,
      completedCalls: totals.completedCalls,
      missedCalls: totals.missedCalls,
      averageDurationSeconds: rounded(average(totals.billedSeconds, totals.answeredCalls), 1),
      averageSentimentScore: rounded(average(totals.sentimentSum, totals.sentimentCount), 2),
    },
    minutesUsed,
    minutesIncluded,
    minutesRemaining: rounded(Math.max(0, minutesIncluded - minutesUsed), 1),
    dailyBreakdown: report.days.map((day) => ({
      date: day.date,
      calls: day.calls,
      minutes: minutesOf(day.billedSeconds),
      averageDuration: rounded(average(day.billedSeconds, day.answeredCalls), 1),
    })),
    topIntents: report.topIntents.map(({ intent, count, share }) => ({
      intent,
      count,
      percentage: rounded(share * 100, 1),
    })),
  };
}
