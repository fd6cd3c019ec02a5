/** `/api/calls/{callId}/sip`: the SIP messages of a call, for diagnosing trouble with a carrier. */

import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';
import { sipLadderSchema } from '../schemas/sip-trace-schemas.ts';
import { serializeSipTrace } from '../serializers/sip-trace-serializer.ts';
import { existing } from './call-routes.ts';

const ladderRoute = describeRoute({
  tags: ['Calls'],
  security: [{ bearer: [] }],
  middleware: [requireScope('calls:read')],
  operationId: 'getCallSip',
  method: 'get',
  path: '/api/calls/{callId}/sip',
  summary: 'Shows the SIP messages of a call',
  description:
    'Those of its dialog, also while it goes on: 100 messages and 64 KiB at most, the first and the last ones. Kept for 30 days. ' +
    'Where a drachtio server does the SIP, and for simulated calls, `source` is `none` and `note` says why.',
  request: { params: callPathSchema, query: noQuery },
  responses: {
    200: jsonResponse('The messages, oldest first.', sipLadderSchema),
    ...errorResponses(400, 404),
  },
});

export function addSipTraceRoutes(
  api: ApiApp,
  { calls, callTraces }: Pick<ApiDeps, 'calls' | 'callTraces'>,
): void {
  api.openapi(ladderRoute, async (context) => {
    const call = existing(await calls.find(scopeOf(context), context.req.valid('param').callId));
    return context.json(serializeSipTrace(await callTraces.of(call)), 200);
  });
}
