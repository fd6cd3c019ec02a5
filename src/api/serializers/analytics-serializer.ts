/** Analytics as customers see them: minutes, averages and percentages, rounded; pure */
import type { z } from '@hono/zod-openapi';
import { type AnalyticsReport, average } from '../../domain/analytics/analytics-report.ts';
import type { analyticsSchema } from '../schemas/analytics-schemas.ts';
import { minutesOf, rounded } from './rounding.ts';

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
