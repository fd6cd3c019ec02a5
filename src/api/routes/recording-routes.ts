/** `/api/calls/{callId}/recording`: the recording as WAV, for a key or a signed link. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import type { Call } from '../../domain/call/call.ts';
import { checkRecordingLink } from '../../domain/call/recording-link.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { checkScope } from '../http/authentication.ts';
import { type ByteRange, parseByteRange } from '../http/byte-range.ts';
import { describeRoute } from '../http/describe-route.ts';
import { errorBody, existing } from '../http/errors.ts';
import { isHeld, recordingFileOf } from '../http/recording-file.ts';
import { callPathSchema, recordingQuerySchema } from '../schemas/call-schemas.ts';

const wav = { 'audio/wav': { schema: z.string().openapi({ format: 'binary' }) } };

const recordingRoute = describeRoute({
  tag: 'Calls',
  operationId: 'getCallRecording',
  method: 'get',
  path: '/api/calls/{callId}/recording',
  summary: 'Sends the recording as WAV: caller left, agent right',
  description:
    'Needs a key, or the two parameters of a link that `recordingUrl` gave. Takes `Range`.',
  security: [{ bearer: ['calls:read'] }, {}],
  request: { params: callPathSchema, query: recordingQuerySchema },
  responses: {
    200: { description: 'The whole recording.', content: wav },
    206: { description: 'The bytes asked for.', content: wav },
    304: { description: 'The recording is the one that the client has.' },
  },
  errors: [416],
});

type Sent = Response;

export function addRecordingRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(recordingRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const { expires, signature } = context.req.valid('query');
    if (expires === undefined || signature === undefined) {
      await checkScope(context, 'calls:read');
      return send(context, existing(await deps.calls.find(scopeOf(context), callId), 'call'), deps);
    }
    const proof = { expires, signature };
    checkRecordingLink(callId, proof, { secret: deps.recordingSecret, now: deps.clock.now() });
    return send(context, existing(await deps.calls.findById(callId), 'call'), deps);
  });
}

async function send(context: ApiContext, call: Call, deps: ApiDeps): Promise<Sent> {
  const { path, sizeBytes, version } = await recordingFileOf(call, deps.dataFolder);
  const etag = `"${version}"`;
  const isSame = isHeld(context.req.header('if-none-match'), etag);
  const range = isSame ? undefined : rangeOf(context, etag, sizeBytes);
  context.header('Accept-Ranges', 'bytes');
  if (range === 'unsatisfiable') return refuseRange(context, sizeBytes);
  context.header('ETag', etag);
  context.header('Cache-Control', 'private, no-cache');
  context.header('Content-Type', 'audio/wav');
  context.header('Content-Disposition', `inline; filename="${call.id}.wav"`);
  if (isSame) return context.body(null, 304);
  if (range === undefined) return sendBytes(context, path, { first: 0, last: sizeBytes - 1 }, 200);
  context.header('Content-Range', `bytes ${range.first}-${range.last}/${sizeBytes}`);
  return sendBytes(context, path, range, 206);
}

/** A range of another version than the client holds would not fit: then it gets the whole. RFC 9110, 13.1.5. */
function rangeOf(
  context: ApiContext,
  etag: string,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const condition = context.req.header('if-range');
  if (condition !== undefined && condition !== etag) return undefined;
  return parseByteRange(context.req.header('range'), sizeBytes);
}

/** Without `ETag` and not cacheable: the body is not the recording. RFC 9110, 15.5.17. */
function refuseRange(context: ApiContext, sizeBytes: number): Sent {
  context.header('Content-Range', `bytes */${sizeBytes}`);
  const error = new ServiceError(
    'VALIDATION_ERROR',
    'Cannot send the range: the recording ends before it',
    [{ path: 'Range', message: `expected bytes below ${sizeBytes}` }],
  );
  return context.json(errorBody(error, context.get('requestId'), 416), 416);
}

function sendBytes(
  context: ApiContext,
  file: string,
  { first, last }: ByteRange,
  status: 200 | 206,
): Sent {
  context.header('Content-Length', String(last - first + 1));
  if (context.req.method === 'HEAD' || last < first) return context.body(null, status);
  const bytes = createReadStream(file, { start: first, end: last });
  return context.body(Readable.toWeb(bytes) as ReadableStream<Uint8Array>, status);
}
