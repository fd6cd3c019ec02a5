/** Limits of request bodies: size, encoding, and depth and number of JSON values. */
import { isUtf8 } from 'node:buffer';
import { bodyLimit } from 'hono/body-limit';
import type { ApiContext, Guard } from '../api-env.ts';
import { hasMoreCommasThan, isDeeperThan } from './json-bounds.ts';
import { unreadableBody } from './parsed-json.ts';

/** JSON.parse takes 0.1 s for a mebibyte of brackets, during which the main thread serves no call. */
const DEPTH_MAX = 32;

/** Fields and list items in all. The largest agent has some 300; to validate 80,000 takes the main thread 0.14 s. */
const VALUES_MAX = 2000;

const BODY_METHODS: readonly string[] = ['POST', 'PATCH', 'PUT'];

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Reads the body of POST, PATCH and PUT into `bodyText`.
 *
 * @param limit.message says the limit in the error.
 * @param limit.mayRead whether the body of this request is worth reading; true when not given.
 * @throws {ServiceError} VALIDATION_ERROR when the body is longer than `bytesMax`, nested deeper
 * than 32, has more than 2,000 values, is not UTF-8, or ends early.
 */
export function limitBody(limit: {
  readonly bytesMax: number;
  readonly message: string;
  readonly mayRead?: (context: ApiContext) => boolean;
}): Guard {
  const limitSize = bodyLimit({
    maxSize: limit.bytesMax,
    onError: () => {
      throw unreadableBody('', limit.message);
    },
  });
  return async (context, next) => {
    const isRead = limit.mayRead?.(context) ?? true;
    if (!isRead || !BODY_METHODS.includes(context.req.method)) return next();
    const coding = context.req.header('transfer-encoding');
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      throw unreadableBody('', 'expected no Transfer-Encoding but "chunked"');
    }
    return await limitSize(context, async () => {
      await readText(context);
      await next();
    });
  };
}

async function readText(context: ApiContext): Promise<void> {
  const bytes = await context.req.arrayBuffer().catch(() => undefined);
  if (bytes === undefined) throw unreadableBody('', 'the client went away before its end');
  const text = textOf(new Uint8Array(bytes));
  context.set('bodyText', text);
  // Hono's validators read the cached text.
  context.req.bodyCache.text = Promise.resolve(text) as unknown as string;
}

function textOf(bytes: Uint8Array): string {
  // A decoder would replace bad bytes by U+FFFD and so change the customer's words.
  if (!isUtf8(bytes)) throw unreadableBody('', 'expected UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (isDeeperThan(text, DEPTH_MAX)) {
    throw unreadableBody('', `expected JSON that is nested ${DEPTH_MAX} deep at most`);
  }
  if (hasMoreCommasThan(text, VALUES_MAX)) {
    throw unreadableBody('', `expected ${VALUES_MAX} fields and list items at most`);
  }
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}
