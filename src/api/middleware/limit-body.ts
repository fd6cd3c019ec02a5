/** Refuses bodies that no honest request has. */
import { isUtf8 } from 'node:buffer';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, ApiEnv } from '../api-env.ts';
import { isDeeperThan } from '../json-depth.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** The parser takes a tenth of a second for a mebibyte of brackets, and meanwhile nobody on a call is heard. */
const DEPTH_MAX = 32;

/** Counts a body whose length is not announced while it comes. */
const limitSize = bodyLimit({ maxSize: BODY_BYTES_MAX, onError: refuseSize });

const utf8 = new TextDecoder();

/** Nobody reads the body of another one. */
const WITH_BODY: readonly string[] = ['POST', 'PATCH', 'PUT'];

/**
 * 1 MiB at most, whether the length is announced or not, and 32 lists and objects in each other.
 *
 * Looks at no body of a request without a valid key: that is turned away unread.
 */
export const limitBody: MiddlewareHandler<ApiEnv> = async (context, next) => {
  if (context.get('caller') === undefined || !WITH_BODY.includes(context.req.method)) {
    return next();
  }
  const goOn = async () => {
    if (isDeeperThan(await textOf(context), DEPTH_MAX)) {
      throw refusal(`expected JSON that is nested ${DEPTH_MAX} deep at most`);
    }
    await next();
  };
  const sizeBytes = announcedBytes(context);
  if (sizeBytes === undefined) await limitSize(context, goOn);
  else if (sizeBytes > BODY_BYTES_MAX) refuseSize(context);
  else await goOn();
};

/** Hono's own `text` would put U+FFFD in the place of what is no UTF-8, and the customer would find other words kept. */
async function textOf(context: ApiContext): Promise<string> {
  const bytes = await context.req.arrayBuffer();
  if (!isUtf8(bytes)) throw refusal('expected UTF-8');
  const text = utf8.decode(bytes);
  // Whoever asks for the text or the JSON later gets this one, not one that is decoded anew each time.
  const cache: { text?: unknown } = context.req.bodyCache;
  cache.text = Promise.resolve(text);
  return text;
}

/** Node reads no more than was announced. Undefined when the body comes in chunks, or there may be none. */
function announcedBytes(context: ApiContext): number | undefined {
  const length = context.req.header('Content-Length');
  const isChunked = context.req.header('Transfer-Encoding') !== undefined;
  return length === undefined || isChunked ? undefined : Number(length);
}

function refuseSize(context: Context): never {
  // The rest of the body stays unread, so the connection cannot carry another request.
  context.header('Connection', 'close');
  throw refusal('expected 1 MiB at most');
}

function refusal(message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, [
    { path: '', message },
  ]);
}
