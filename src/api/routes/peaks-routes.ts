/** `/api/calls/{callId}/recording/peaks`: the shape of a recording, for drawing it. */
import { z } from '@hono/zod-openapi';
import { PEAK_POINTS } from '../../domain/call/recording-link.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { isHeld, noRecording, recordingFileOf } from '../http/recording-file.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { wholeNumber } from '../schemas/paging-schema.ts';

const peaksQuerySchema = z.strictObject({
  points: wholeNumber({ min: 1, max: PEAK_POINTS.max })
    .default(PEAK_POINTS.default)
    .openapi({
      param: { description: 'How many stretches.' },
      type: 'integer',
      minimum: 1,
      maximum: PEAK_POINTS.max,
      default: PEAK_POINTS.default,
    }),
});

const side = z.array(z.number().min(0).max(1));

const recordingPeaksSchema = z
  .object({
    durationMs: z.int(),
    peaks: z.object({ caller: side, agent: side }).openapi({
      description: 'From 0 to 1, with two decimals; shorter than `points` where there is less.',
    }),
  })
  .openapi('RecordingPeaks');

const RETRY_AFTER_SECONDS = 1;

const peaksRoute = describeRoute({
  tag: 'Calls',
  scope: 'calls:read',
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
  },
});

export function addPeaksRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(peaksRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const { points } = context.req.valid('query');
    const call = existing(await deps.calls.find(scopeOf(context), callId), 'call');
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
