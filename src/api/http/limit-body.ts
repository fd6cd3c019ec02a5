/** Refuses bodies that no honest request has. */
import { isUtf8 } from 'node:buffer';
import type { ApiContext } from '../api-env.ts';
import type { ApiRequest } from './api-request.ts';
import { hasMoreCommasThan, isDeeperThan } from './json-bounds.ts';
import { unreadableBody } from './parsed-json.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** The parser takes a tenth of a second for a mebibyte of brackets, and meanwhile nobody on a call is heard. */
const DEPTH_MAX = 32;

/**
 * Fields and list items of all objects and lists. The largest agent has some 300; to check 80,000 takes the main thread
 * 0.14 s.
 */
const VALUES_MAX = 2000;

/** Nobody reads the body of another one. */
const WITH_BODY: readonly string[] = ['POST', 'PATCH', 'PUT'];

/**
 * Reads the body: 1 MiB at most, whether the length is announced or not,
 * 32 lists and objects in each other, and 2,000 fields and list items.
 *
 * Looks at no body of a request without a valid key: that is turned away unread.
 */
export function limitBody(context: ApiContext): undefined | Promise<void> {
  if (context.caller === undefined || !WITH_BODY.includes(context.request.method)) return undefined;
  return readText(context, LIMIT);
}

interface BodyLimit {
  readonly bytesMax: number;
  readonly message: string;
}

const LIMIT: BodyLimit = { bytesMax: BODY_BYTES_MAX, message: 'expected 1 MiB at most' };

/**
 * Reads the body into the context.
 *
 * @throws {ServiceError} VALIDATION_ERROR, at once or by the promise. This also ends the connection when it is longer than
 * `bytesMax`; besides, when the client goes away before its end, when it is nested deeper or has more
 * values than that, and when it is no UTF-8: to put U+FFFD in its place would keep other words than the customer's.
 */
export function readText(context: ApiContext, limit: BodyLimit): Promise<void> {
  const { request } = context;
  const coding = request.header('transfer-encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw unreadableBody('', 'expected no Transfer-Encoding but "chunked"');
  }
  if ((announcedBytes(request) ?? 0) > limit.bytesMax) refuseLong(context, limit);
  return request.readBody(limit.bytesMax).then((bytes) => {
    context.bodyText = textOf(bytes ?? refuseLong(context, limit));
  }, cutOff);
}

function refuseLong(context: ApiContext, { message }: BodyLimit): never {
  // Tells the client to stop sending. What still comes is forgotten.
  context.header('Connection', 'close');
  throw unreadableBody('', message);
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw unreadableBody('', 'expected UTF-8');
  const text = bytes.toString();
  if (isDeeperThan(text, DEPTH_MAX)) {
    throw unreadableBody('', `expected JSON that is nested ${DEPTH_MAX} deep at most`);
  }
  if (hasMoreCommasThan(text, VALUES_MAX)) {
    throw unreadableBody('', `expected ${VALUES_MAX} fields and list items at most`);
  }
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Nobody hears it; but whoever counts failures of the server is not to count those of its clients. */
function cutOff(): never {
  throw unreadableBody('', 'the client went away before its end');
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Node reads no more than was announced. Undefined when the body comes in chunks, or there may be none. */
function announcedBytes(request: ApiRequest): number | undefined {
  const length = request.header('content-length');
  const isChunked = request.header('transfer-encoding') !== undefined;
  return length === undefined || isChunked ? undefined : Number(length);
}
