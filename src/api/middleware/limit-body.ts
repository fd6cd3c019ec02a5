/** Refuses bodies that no honest request has. */
import { isUtf8 } from 'node:buffer';
import type { ApiContext } from '../api-env.ts';
import type { ApiRequest } from '../api-request.ts';
import { isDeeperThan } from '../json-depth.ts';
import { unreadableBody } from '../parsed-json.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** The parser takes a tenth of a second for a mebibyte of brackets, and meanwhile nobody on a call is heard. */
const DEPTH_MAX = 32;

/** Nobody reads the body of another one. */
const WITH_BODY: readonly string[] = ['POST', 'PATCH', 'PUT'];

/**
 * Reads the body: 1 MiB at most, whether the length is announced or not, and 32 lists and objects in each other.
 *
 * Looks at no body of a request without a valid key: that is turned away unread.
 */
export function limitBody(context: ApiContext): undefined | Promise<void> {
  if (context.caller === undefined || !WITH_BODY.includes(context.request.method)) return undefined;
  return readText(context, LIMIT);
}

const LIMIT = { bytesMax: BODY_BYTES_MAX, message: 'expected 1 MiB at most' };

/**
 * Reads the body into the context.
 *
 * @throws {ServiceError} VALIDATION_ERROR, which also ends the connection, when it is longer than `bytesMax`; when the client goes
 * away before its end, when more than 32 lists and objects lie in each other, and when it is no UTF-8: to put U+FFFD in its
 * place would keep other words than the customer's.
 */
export async function readText(
  context: ApiContext,
  limit: { readonly bytesMax: number; readonly message: string },
): Promise<void> {
  const { request } = context;
  const coding = request.header('transfer-encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw unreadableBody('', 'expected no Transfer-Encoding but "chunked"');
  }
  const isTooLong = (announcedBytes(request) ?? 0) > limit.bytesMax;
  const bytes = isTooLong ? undefined : await request.readBody(limit.bytesMax).catch(cutOff);
  if (bytes === undefined) {
    // Tells the client to stop sending. What still comes is forgotten.
    context.header('Connection', 'close');
    throw unreadableBody('', limit.message);
  }
  if (!isUtf8(bytes)) throw unreadableBody('', 'expected UTF-8');
  const text = bytes.toString();
  if (isDeeperThan(text, DEPTH_MAX)) {
    throw unreadableBody('', `expected JSON that is nested ${DEPTH_MAX} deep at most`);
  }
  context.bodyText = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
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
