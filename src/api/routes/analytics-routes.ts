/** `/api/analytics`: what an account's calls add up to. */

import type { z } from '@hono/zod-openapi';
import { reportOf } from '../../domain/analytics/analytics-report.ts';
import { type Period, periodOf } from '../../domain/analytics/period.ts';
import { type ApiApp, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { analyticsQuerySchema, analyticsSchema } from '../schemas/analytics-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { serializeAnalytics } from '../serializers/analytics-serializer.ts';

const analyticsRoute = describeRoute({
  tags: ['Analytics'],
  operationId: 'getAnalytics',
  method: 'get',
  path: '/api/analytics',
  summary: 'Adds up the calls of a period',
  description:
    'Days are UTC, and a call counts on the day it started, or was asked for while it has not. Minutes are billed by the started second, summed, and shown with one decimal.',
  security: [{ bearer: [] }],
  middleware: [requireScope('analytics:read')],
  request: { query: analyticsQuerySchema },
  responses: {
    200: jsonResponse('The sums of the period, of its days and of its intents.', analyticsSchema),
    ...errorResponses(400),
  },
});

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

function askedPeriod(query: z.infer<typeof analyticsQuerySchema>, now: Date): Period {
  const { period, startDate, endDate } = query;
  if (period !== 'custom') return periodOf(period, now);
  // The schema has seen to it that both are there.
  return { firstDay: String(startDate), lastDay: String(endDate) };
}
