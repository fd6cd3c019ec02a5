/** `/api/calls/{callId}/quality`: how well a call's packets travelled. */

import type { CallQuality } from '../../domain/call/call-life.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';
import { callQualitySchema } from '../schemas/quality-schemas.ts';
import { existing } from './call-routes.ts';

/** Of a call that was not answered, was a simulated one, or was lost with the server that held it. */
const UNKNOWN = { codec: null, local: null, remote: null, mos: null };

const qualityRoute = describeRoute({
  tags: ['Calls'],
  security: [{ bearer: ['calls:read'] }],
  middleware: [requireScope('calls:read')],
  operationId: 'getCallQuality',
  method: 'get',
  path: '/api/calls/{callId}/quality',
  summary: "Shows how well the call's sound travelled",
  description:
    'From our own reception and the far end’s RTCP, over the whole call; while it goes on, up to now. Every field is null where no packets were seen: ' +
    'the call was not answered, was simulated, or was cut off by a crash. Where FreeSWITCH faces the carrier, these are the figures between it and the server.',
  request: { params: callPathSchema, query: noQuery },
  responses: {
    200: jsonResponse('The quality of the call.', callQualitySchema),
    ...errorResponses(400, 404),
  },
});

export function addQualityRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(qualityRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const call = existing(await deps.calls.find(scopeOf(context), callId));
    const quality = (await deps.qualities.find(call.id)) ?? (await deps.liveSound.quality(call.id));
    return context.json(viewOf(quality), 200);
  });
}

function viewOf(quality: CallQuality | undefined) {
  if (quality === undefined) return UNKNOWN;
  const { codec, local, remote, mos } = quality;
  return { codec, local: { ...local }, remote: remote === null ? null : { ...remote }, mos };
}
