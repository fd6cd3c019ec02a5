/** `/api/analytics` and `/api/analytics/details`: what calls add up to; their details by outcome, day, hour, agent and time to answer. */
import { z } from '@hono/zod-openapi';
import type { Scope } from '../../domain/agent/agent.ts';
import {
  type AnalyticsDetails,
  detailsOf,
  type Outcomes,
  type QuarterHours,
  type Totals,
} from '../../domain/analytics/analytics-details.ts';
import {
  type AnalyticsReport,
  average,
  reportOf,
} from '../../domain/analytics/analytics-report.ts';
import {
  localDateOf,
  type Period,
  periodOf,
  QUARTER_HOUR_MS,
  spanBefore,
  spanOf,
  type ZonedSpan,
} from '../../domain/analytics/period.ts';
import { END_REASONS } from '../../domain/call/call.ts';
import { isTimeZone } from '../../domain/zoned-time.ts';
import { type ApiApp, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { jsonResponse, routesOf } from '../http/describe-route.ts';
import { costSchema } from '../schemas/call-schemas.ts';
import { askedPeriod, checkDates, periodFields } from '../schemas/query-schemas.ts';
import { costView, minutesOf, rounded } from '../serializers.ts';

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

const readRoute = routesOf({ tag: 'Analytics', scope: 'analytics:read' });

const analyticsRoute = readRoute('get', '/api/analytics', {
  operationId: 'getAnalytics',
  summary: 'Adds up the calls of a period',
  description:
    'Days are UTC, and a call counts on the day it started, or was asked for while it has not. Minutes are billed by the started second, summed, and shown with one decimal.',
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

const answerTime = z
  .object({
    turns: count.openapi({ description: 'Answers of the agent that were heard.' }),
    p50Ms: count,
    p95Ms: count,
  })
  .nullable()
  .openapi({
    description:
      "From the caller's last sound to the agent's first, of calls that are over, to within 4 %; null where no answer was heard. Calls that ended before the server had this route are not part of it.",
  });

const engineTime = z
  .object({
    turns: count.openapi({ description: 'Answers that waited for it.' }),
    p50Ms: count,
    p95Ms: count,
  })
  .nullable();

const engineTimes = z
  .object({ recognition: engineTime, model: engineTime, voice: engineTime })
  .openapi({
    description:
      'How long callers waited for each engine after their last sound, as part of `answerTime`, to within 4 % and 5 ms: text of the utterance, first clause of the language model, first sound of the voice. Work that was done while the caller still spoke counts as no waiting. Null where there was no such answer, and for calls that ended before the server counted these.',
  });

const outcomes = {
  completedCalls: count,
  missedCalls: count.openapi({ description: 'Ended and never answered.' }),
  failedCalls: count.openapi({ description: 'Answered, and broken off by an error.' }),
};

const success = {
  successMet: count.openapi({
    description: "Calls that met their agent's `successCriteria`, of `successJudged`.",
  }),
  successJudged: count,
};

const totalsSchema = z.object({
  totalCalls: count.openapi({ description: 'Calls in progress count.' }),
  ...outcomes,
  inboundCalls: count,
  outboundCalls: count,
  totalMinutes: z.number().min(0).openapi({ description: 'One decimal.' }),
  averageDurationSeconds: z.number().min(0).nullable().openapi({
    description: 'Of calls that were answered and are over, one decimal; null without any.',
  }),
  answerTime,
  ...success,
  positiveCalls: count.openapi({ description: 'By the sentiment of analysed calls.' }),
  neutralCalls: count,
  negativeCalls: count,
  costs: z.array(costSchema).openapi({
    description:
      'What carriers charge for the calls that are over and have a `cost`: one sum a currency, by its code; empty without any.',
  }),
});

const detailsSchema = z
  .object({
    period: z.object({
      start: timestamp.openapi({ description: 'The first millisecond of the first day.' }),
      end: timestamp.openapi({ description: 'The last millisecond of the last day.' }),
      timeZone: z.string(),
    }),
    summary: totalsSchema,
    previous: totalsSchema.openapi({
      description:
        'As many days right before the period. While the period is not over, as much of them as has passed of it.',
    }),
    days: z
      .array(
        z.object({ date: z.iso.date(), totalCalls: count, ...outcomes, answerTime, engineTimes }),
      )
      .openapi({
        description: 'Every local day of the period, in order, also days without calls.',
      }),
    hours: z
      .array(count)
      .length(24)
      .openapi({ description: 'Calls by hour of the local day, from midnight on.' }),
    endReasons: z
      .array(z.object({ reason: z.enum(END_REASONS), count }))
      .openapi({ description: 'Those that there were, most frequent first.' }),
    agents: z
      .array(z.object({ agentId: z.string(), totalCalls: count, ...outcomes, ...success }))
      .max(50)
      .openapi({ description: 'Those that exist and had calls, most calls first.' }),
  })
  .openapi('AnalyticsDetails');

const querySchema = z
  .strictObject({
    ...periodFields('Whole days of `timeZone`'),
    timeZone: z
      .string()
      .max(100)
      .refine(isTimeZone, 'expected an IANA time zone, such as Europe/Rome')
      .default('UTC')
      .openapi({
        param: { description: 'IANA time zone that days and hours are of.' },
        example: 'Europe/Rome',
      }),
  })
  .superRefine(checkDates);

const detailsRoute = readRoute('get', '/api/analytics/details', {
  operationId: 'getAnalyticsDetails',
  summary: 'Breaks the calls of a period down',
  description:
    'As `GET /api/analytics`, with days and hours of a time zone, and with outcomes, end reasons, times to answer, success by agent, and the period before. A call counts when it started, or was asked for while it has not.',
  request: { query: querySchema },
  responses: { 200: jsonResponse('The calls of the period, broken down.', detailsSchema) },
});

/** Adds `/api/analytics/details`. */
export function addAnalyticsDetailRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(detailsRoute, async (context) => {
    const query = context.req.valid('query');
    const { agentId, timeZone } = query;
    const now = deps.clock.now();
    const period = askedPeriod(query, localDateOf(now, timeZone));
    const asked = { period, timeZone, agentId, now };
    const details = await readDetails(deps.quarterHours, scopeOf(context), asked);
    return context.json(serializeDetails(details, spanOf(period, timeZone), timeZone), 200);
  });
}

/** Reads and adds up the figures of the answer. */
export async function readDetails(
  quarterHours: QuarterHours,
  scope: Scope,
  asked: {
    readonly period: Period;
    readonly timeZone: string;
    readonly now: Date;
    readonly agentId?: string | undefined;
  },
): Promise<AnalyticsDetails> {
  const { period, timeZone, now, agentId } = asked;
  const span = spanOf(period, timeZone);
  const earlier = { agentId, span: spanBefore(period, timeZone, now) };
  const agents = await quarterHours.agents(scope, span);
  return detailsOf({
    period,
    span,
    outcomes: await quarterHours.outcomes(scope, { agentId, span }),
    answers: await quarterHours.answers(scope, { agentId, span }),
    totals: await quarterHours.totals(scope, { agentId, span }),
    costs: await quarterHours.costs(scope, { agentId, span }),
    before: await quarterHours.totals(scope, earlier),
    answersBefore: await quarterHours.answers(scope, earlier),
    costsBefore: await quarterHours.costs(scope, earlier),
    agents: agents.filter((agent) => agentId === undefined || agent.agentId === agentId),
  });
}

function serializeDetails(
  details: AnalyticsDetails,
  { from, before }: ZonedSpan,
  timeZone: string,
): z.infer<typeof detailsSchema> {
  return {
    period: {
      start: new Date(from * QUARTER_HOUR_MS).toISOString(),
      end: new Date(before * QUARTER_HOUR_MS - 1).toISOString(),
      timeZone,
    },
    summary: totalsView(details.totals),
    previous: totalsView(details.before),
    days: details.days.map((day) => ({
      date: day.date,
      ...outcomesView(day),
      answerTime: day.answerTimes,
      engineTimes: day.engineTimes,
    })),
    hours: [...details.hours],
    endReasons: [...details.endReasons],
    agents: details.agents.map((agent) => ({
      agentId: agent.agentId,
      ...outcomesView(agent),
      successMet: agent.met,
      successJudged: agent.judged,
    })),
  };
}

function totalsView({ sums, answerTimes, costs }: Totals): z.infer<typeof totalsSchema> {
  const { billedSeconds, answered } = sums;
  return {
    ...outcomesView(sums),
    inboundCalls: sums.inbound,
    outboundCalls: sums.calls - sums.inbound,
    totalMinutes: minutesOf(billedSeconds),
    averageDurationSeconds: answered === 0 ? null : rounded(billedSeconds / answered, 1),
    answerTime: answerTimes,
    successMet: sums.met,
    successJudged: sums.judged,
    positiveCalls: sums.positive,
    neutralCalls: sums.neutral,
    negativeCalls: sums.negative,
    costs: costs.map(costView),
  };
}

function outcomesView({ calls, completed, missed, failed }: Outcomes) {
  return { totalCalls: calls, completedCalls: completed, missedCalls: missed, failedCalls: failed };
}
