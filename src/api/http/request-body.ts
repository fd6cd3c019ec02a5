/** Request bodies: their limits (size, encoding, depth and number of JSON values), and the guard of routes that take none. */
import { isUtf8 } from 'node:buffer';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { jsonOf } from '../../lib/unknown-value.ts';
import type { ApiContext, Guard } from '../api-env.ts';
import { invalidInput, unreadableBody } from './errors.ts';

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

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json(?:;\s*[\w-]+=[^;]+)*$/i;

/** Whether its content type says that the body is JSON. */
export function isJson({ req }: ApiContext): boolean {
  return JSON_TYPE.test(req.header('content-type') ?? '');
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

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Brackets and braces differ in this bit alone. */
const BRACE_BIT = 0x20;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Whether lists and objects lie in each other deeper than `depthMax`. Looks no further than to where they do.
 *
 * @param text may be malformed; the parser reports that.
 */
export function isDeeperThan(text: string, depthMax: number): boolean {
  let depth = 0;
  return hasMark(text, (code) => {
    if ((code | BRACE_BIT) === CLOSING_BRACE) depth -= 1;
    else if ((code | BRACE_BIT) === OPENING_BRACE) depth += 1;
    return depth > depthMax;
  });
}

/**
 * Whether there are more commas between values than `commasMax`: the fields and list items of all objects and lists
 * together, less one for each. Looks no further than to where there are.
 *
 * @param text need not be well-formed.
 */
export function hasMoreCommasThan(text: string, commasMax: number): boolean {
  let count = 0;
  return hasMark(text, (code) => {
    if (code === COMMA) count += 1;
    return count > commasMax;
  });
}

/** Whether the test is true of some character outside of strings. */
function hasMark(text: string, test: (code: number) => boolean): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (test(code)) return true;
  }
  return false;
}

/** Index of the closing quote; the text's length when there is none. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code === BACKSLASH) index += 1;
  }
  return text.length;
}

const nothing = z.strictObject({});

/** Accepts an empty body and `{}`, of any content type. Comes after `requireScope`. */
export const noBody: Guard = (context, next) => {
  const text = context.get('bodyText');
  if (text === '') return next();
  const result = nothing.safeParse(parsedJson(text));
  if (!result.success) throw invalidInput('json', result.error);
  return next();
};

/** @throws {ServiceError} VALIDATION_ERROR when it is none. */
export function parsedJson(text: string): unknown {
  const value = jsonOf(text);
  if (value === undefined) throw unreadableBody('', 'expected well-formed JSON');
  return value;
}
