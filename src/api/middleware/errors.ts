/** Turns whatever went wrong into the one body that customers know. */
import type { ErrorHandler, NotFoundHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ZodError } from 'zod';
import { type ErrorCode, type ErrorDetail, ServiceError } from '../../domain/service-error.ts';
import { StoreError } from '../../domain/store-error.ts';
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

/** Answers for every thrown error, and logs the ones that are ours or the world's. */
export function errorHandler(log: Logger): ErrorHandler<ApiEnv> {
  return (error, context) => {
    const requestId = context.get('requestId');
    const known = serviceErrorOf(error);
    if (isForeseen(error)) log.warn({ requestId, why: error.message }, 'http: request put off');
    else if (known.status >= 500) log.error({ err: error, requestId }, 'http: request failed');
    if (known.status === 401) context.header('WWW-Authenticate', 'Bearer');
    return context.json(errorBody(known, requestId), known.status as ContentfulStatusCode);
  };
}

/** A full queue or a server about to stop: nothing is broken, and a stack would tell nobody anything. */
function isForeseen(error: Error): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}

function serviceErrorOf(error: Error): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreError) {
    return new ServiceError(
      'SERVICE_UNAVAILABLE',
      'Cannot answer now: the database is unavailable; retry later',
    );
  }
  if (error instanceof HTTPException && error.status < 500) return malformed(error);
  return new ServiceError('INTERNAL_ERROR', 'Cannot answer: the server failed');
}

/** What Hono itself refuses: a body that is not JSON, or says that it is something else. */
function malformed(error: HTTPException): ServiceError {
  const [path, message] =
    error.status === 415
      ? ['Content-Type', 'expected application/json']
      : ['', 'expected well-formed JSON'];
  return new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, [
    { path, message },
  ]);
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

/** Answers for paths that nobody serves, and for methods that a path doesn't know: 404 with `Allow`. */
export function notFoundHandler(
  methodsOf: (path: string) => readonly string[],
): NotFoundHandler<ApiEnv> {
  return (context: ApiContext) => {
    const { path } = context.req;
    if (path === '/api' || path.startsWith('/api/')) callerOf(context);
    const methods = methodsOf(path);
    if (methods.length > 0) context.header('Allow', methods.join(', '));
    const why = methods.length > 0 ? 'it knows other methods only' : 'there is no such path';
    const error = new ServiceError(
      'NOT_FOUND',
      `Cannot ${context.req.method} "${path.slice(0, 200)}": ${why}`,
    );
    return context.json(errorBody(error, context.get('requestId')), 404);
  };
}
