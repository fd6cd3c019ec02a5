/** `/api/calls/{callId}/recording/peaks`: the shape of a recording, for drawing it. */

import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { isHeld, noRecording, recordingFileOf } from '../http/recording-file.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { peaksQuerySchema, recordingPeaksSchema } from '../schemas/peaks-schemas.ts';
import { existing } from './call-routes.ts';

const RETRY_AFTER_SECONDS = 1;

const peaksRoute = describeRoute({
  tags: ['Calls'],
  security: [{ bearer: ['calls:read'] }],
  middleware: [requireScope('calls:read')],
  operationId: 'getRecordingPeaks',
  method: 'get',
  path: '/api/calls/{callId}/recording/peaks',
  summary: 'Shows how loud the recording is along its length',
  description:
    'For each of `points` stretches of equal length, the loudest sample of either side. While the call goes on: what is recorded so far.',
  request: { params: callPathSchema, query: peaksQuerySchema },
  responses: {
    200: jsonResponse('The shape of the recording.', recordingPeaksSchema),
    304: { description: 'The shape is the one that the client has.' },
    ...errorResponses(400, 404),
  },
});

export function addPeaksRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(peaksRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const { points } = context.req.valid('query');
    const call = existing(await deps.calls.find(scopeOf(context), callId));
    const { path, version } = await recordingFileOf(call, deps.dataFolder);
    const etag = `"${version}-${points}"`;
    context.header('ETag', etag);
    context.header('Cache-Control', 'private, no-cache');
    if (isHeld(context.req.header('if-none-match'), etag)) return context.body(null, 304);
    const peaks = await deps.readPeaks(path, points, context.req.raw.signal);
    if (peaks === 'none') throw noRecording();
    if (peaks === 'busy') throw busy(context);
    const { durationMs, caller, agent } = peaks;
    const sides = { caller: [...caller], agent: [...agent] };
    return context.json({ durationMs, peaks: sides }, 200);
  });
}

function busy(context: ApiContext): ServiceError {
  context.set('retryAfterSeconds', RETRY_AFTER_SECONDS);
  const why = 'others are being read';
  return new ServiceError('SERVICE_UNAVAILABLE', `Cannot read the recording: ${why}; retry later`);
}
