/** Turns errors into the error envelope of the interface. */
import type { ErrorHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ZodError } from 'zod';
import {
  type ErrorCode,
  type ErrorDetail,
  ServiceError,
  StoreError,
} from '../../domain/service-error.ts';
import type { Logger } from '../../lib/logger.ts';
import { type ApiContext, type ApiEnv, callerOf } from '../api-env.ts';

const DETAILS_MAX = 50;

export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly status: number;
    readonly requestId: string;
    readonly details?: readonly ErrorDetail[];
  };
}

/** The envelope of an error. `status` differs from the code's own only where HTTP asks for it, such as 416. */
export function errorBody(
  error: ServiceError,
  requestId: string,
  status: number = error.status,
): ErrorBody {
  const { code, message, details } = error;
  const body = { code, message, status, requestId };
  return { error: code === 'VALIDATION_ERROR' ? { ...body, details } : body };
}

/** Answers every thrown error with the envelope, and logs those that are the server's. */
export function errorHandler(log: Logger): ErrorHandler<ApiEnv> {
  return (error, context) => {
    const requestId = context.get('requestId');
    const known = serviceErrorOf(error);
    context.set('errorCode', known.code);
    if (isForeseen(error)) log.warn({ requestId, why: error.message }, 'http: request put off');
    else if (known.status >= 500) log.error({ err: error, requestId }, 'http: request failed');
    if (known.status === 401) context.header('WWW-Authenticate', 'Bearer');
    if (known.status === 503) {
      context.header('Retry-After', String(context.get('retryAfterSeconds')));
    }
    return context.json(errorBody(known, requestId), known.status as ContentfulStatusCode);
  };
}

/** A full queue or a stopping server: no fault, so no stack trace in the log. */
function isForeseen(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}

/** What the client is told of a thrown value; our own failures keep their details from it. */
export function serviceErrorOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreError) {
    return new ServiceError(
      'SERVICE_UNAVAILABLE',
      'Cannot answer now: the database is unavailable; retry later',
    );
  }
  // Hono's JSON validator found a body that is not JSON.
  if (error instanceof HTTPException && error.status === 400) {
    return unreadableBody('', 'expected well-formed JSON');
  }
  return new ServiceError('INTERNAL_ERROR', 'Cannot answer: the server failed');
}

/** Hook of all routes: a request that fails its schema is refused with every wrong field. */
export function refuseInvalid(result: {
  readonly success: boolean;
  readonly target: string;
  readonly error?: ZodError;
}): void {
  if (!result.success && result.error !== undefined) {
    throw invalidInput(result.target, result.error);
  }
}

/** Names every wrong field of a body or query. */
export function invalidInput(target: string, error: ZodError): ServiceError {
  const details = error.issues.flatMap(detailsOf).slice(0, DETAILS_MAX);
  const [first = { path: '', message: 'invalid' }] = details;
  const where = first.path === '' ? '' : `${first.path}: `;
  const name = target === 'json' ? 'body' : target;
  return new ServiceError(
    'VALIDATION_ERROR',
    `Cannot read the ${name}: ${where}${first.message}`,
    details,
  );
}

function detailsOf(issue: ZodError['issues'][number]): ErrorDetail[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ path: issue.path.map(String).join('.'), message: issue.message }];
  }
  return issue.keys.map((key) => ({
    path: [...issue.path, key].map(String).join('.'),
    message: 'Unknown field',
  }));
}

const NONE_FOUND = {
  agent: 'AGENT_NOT_FOUND',
  call: 'CALL_NOT_FOUND',
  campaign: 'NOT_FOUND',
  'webhook endpoint': 'WEBHOOK_ENDPOINT_NOT_FOUND',
  delivery: 'NOT_FOUND',
  key: 'NOT_FOUND',
  tool: 'NOT_FOUND',
  'SMS gateway': 'NOT_FOUND',
  'MCP server': 'NOT_FOUND',
  'opt-out': 'NOT_FOUND',
  calendar: 'NOT_FOUND',
  document: 'NOT_FOUND',
} as const satisfies Record<string, ErrorCode>;

/**
 * The record that was looked for. One message for unknown records and for those of other accounts, so that ids cannot be
 * probed.
 *
 * @throws {ServiceError} the code of `kind` when there is none.
 */
export function existing<Found>(found: Found | undefined, kind: keyof typeof NONE_FOUND): Found {
  if (found !== undefined) return found;
  const message = `Cannot find the ${kind}: there is none with this id`;
  throw new ServiceError(NONE_FOUND[kind], message);
}

/**
 * The error for an unknown path, or a known path with another method: 404 with `Allow`.
 *
 * @param methods that the path knows.
 * @throws {ServiceError} UNAUTHORIZED when it is a path of the interface, and the request shows no valid key.
 */
export function notFound(context: ApiContext, methods: readonly string[]): ServiceError {
  const { method, path } = context.req;
  if (path === '/api' || path.startsWith('/api/')) callerOf(context);
  if (methods.length > 0) context.header('Allow', methods.join(', '));
  const why = methods.length > 0 ? 'it knows other methods only' : 'there is no such path';
  return new ServiceError('NOT_FOUND', `Cannot ${method} "${path.slice(0, 200)}": ${why}`);
}

/** @param path of what is wrong: empty for all of the body, or the name of a header. */
export function unreadableBody(path: string, message: string): ServiceError {
  const details = [{ path, message }];
  return new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, details);
}
