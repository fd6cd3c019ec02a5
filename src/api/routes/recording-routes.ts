/** `/api/calls/{callId}/recording`: the recording as WAV, for a key or a signed link, whole or in part; and its shape for drawing it. */
import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import type { Call } from '../../domain/call/call.ts';
import { checkRecordingLink, PEAK_POINTS } from '../../domain/call/recording-link.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { checkScope } from '../http/access.ts';
import { describeRoute, jsonResponse } from '../http/describe-route.ts';
import { isHeld } from '../http/entity-tag.ts';
import { errorBody, existing } from '../http/errors.ts';
import { recordingQuerySchema } from '../schemas/call-schemas.ts';
import { wholeNumber } from '../schemas/query-schemas.ts';

const wav = { 'audio/wav': { schema: z.string().openapi({ format: 'binary' }) } };

const recordingRoute = describeRoute('get', '/api/calls/{callId}/recording', {
  tag: 'Calls',
  operationId: 'getCallRecording',
  summary: 'Sends the recording as WAV: caller left, agent right',
  description:
    'Needs a key, or the two parameters of a link that `recordingUrl` gave. Takes `Range`.',
  security: [{ bearer: ['calls:read'] }, {}],
  request: { query: recordingQuerySchema },
  responses: {
    200: { description: 'The whole recording.', content: wav },
    206: { description: 'The bytes asked for.', content: wav },
    304: { description: 'The recording is the one that the client has.' },
  },
  errors: [416],
});

type Sent = Response;

/** Adds `/api/calls/{callId}/recording`, by API key or by signed link, and its peaks. */
export function addRecordingRoutes(api: ApiApp, deps: ApiDeps): void {
  addRecording(api, deps);
  addPeaks(api, deps);
}

function addRecording(api: ApiApp, deps: ApiDeps): void {
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

/** Answers 416 without `ETag` and not cacheable: the body is not the recording. RFC 9110, 15.5.17. */
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

const peaksRoute = describeRoute('get', '/api/calls/{callId}/recording/peaks', {
  tag: 'Calls',
  scope: 'calls:read',
  operationId: 'getRecordingPeaks',
  summary: 'Shows how loud the recording is along its length',
  description:
    'For each of `points` stretches of equal length, the loudest sample of either side. While the call goes on: what is recorded so far.',
  request: { query: peaksQuerySchema },
  responses: {
    200: jsonResponse('The shape of the recording.', recordingPeaksSchema),
    304: { description: 'The shape is the one that the client has.' },
  },
});

function addPeaks(api: ApiApp, deps: ApiDeps): void {
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

interface RecordingFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Another one after every change of the file; fits into an ETag. */
  readonly version: string;
}

/** @throws {ServiceError} NOT_FOUND when the call has no recording, or it would lie outside the data folder. */
async function recordingFileOf(call: Call, dataFolder: string): Promise<RecordingFile> {
  const folder = resolve(dataFolder);
  const path = resolve(folder, call.recordingFile ?? '');
  if (!path.startsWith(folder + sep)) throw noRecording();
  const { size, mtimeMs } = await factsOf(path);
  const version = `${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}`;
  return { path, sizeBytes: size, version };
}

function noRecording(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Cannot find the recording: the call has none');
}

async function factsOf(path: string): Promise<Stats> {
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    // Removed by the operator, or never written because the disk was full.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (facts === undefined || !facts.isFile()) throw noRecording();
  return facts;
}

/** Bytes `first` to `last`, both included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a range of a file.
 *
 * @returns undefined when the whole file is to be sent: no header, another unit, more than one range, or not
 * understood; `unsatisfiable` when the file has no such bytes.
 * @see RFC 9110 section 14.2
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return lastBytes(Number(to), sizeBytes);
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  if (last < first) return undefined;
  if (first >= sizeBytes) return 'unsatisfiable';
  return { first, last: Math.min(last, sizeBytes - 1) };
}

function lastBytes(countBytes: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (countBytes === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { first: Math.max(0, sizeBytes - countBytes), last: sizeBytes - 1 };
}
