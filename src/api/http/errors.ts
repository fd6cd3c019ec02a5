/** The error envelope: for thrown errors, and for requests that never reach a route or that the server fails at. */

import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ZodError } from 'zod';
import {
  ANONYMOUS_REQUESTS_AN_HOUR,
  type RateStore,
  windowOf,
} from '../../domain/account/rate-limit.ts';
import type { NewId } from '../../domain/ids.ts';
import {
  type ErrorCode,
  type ErrorDetail,
  ServiceError,
  StoreError,
} from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, silentLogger } from '../../lib/logger.ts';
import { type ApiContext, type ApiEnv, callerOf } from '../api-env.ts';
import { API_VERSION, clientOf } from './request-identity.ts';

const DETAILS_MAX = 50;

interface ErrorBody {
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

/** Answers every thrown error with the envelope, and logs server errors. */
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

/** Maps a thrown value to the error that the client gets; details of internal failures stay hidden. */
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
  return SERVER_FAILED;
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
 * Returns the record if it was found. The message is the same for unknown records and those of other accounts, so that ids
 * cannot be probed.
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

/** @param path of the invalid field: empty for all of the body, or the name of a header. */
export function unreadableBody(path: string, message: string): ServiceError {
  const details = [{ path, message }];
  return new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, details);
}

/** Parts of the answers to requests that cannot be read or reach no route. */
export interface RefusalOptions {
  readonly newId: NewId;
  readonly clock: Clock;
  /** Counts unreadable requests by client address; without it, the answers to them have no rate-limit headers. */
  readonly rates?: RateStore;
  readonly log?: Logger;
}

/** A response that the server writes itself. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Seconds, as text. */
const RETRY_AFTER = '5';

/** Makes error responses with the envelope for requests that never reached a route. */
export class Refusals {
  readonly #options: RefusalOptions;

  constructor(options: RefusalOptions) {
    this.#options = options;
  }

  /** @param address of the client, for whom it is counted; undefined when it is gone. */
  async unreadable(why: string, address: string | undefined): Promise<Refusal> {
    const error = new ServiceError('VALIDATION_ERROR', `Cannot read the request: ${why}`);
    return this.#envelope(error, await this.#rateHeaders(address));
  }

  /** Errors other than `ServiceError` become `INTERNAL_ERROR`, without details. */
  of(error: unknown): Refusal {
    const known = error instanceof ServiceError ? error : SERVER_FAILED;
    return this.#envelope(known, known.status === 503 ? { 'Retry-After': RETRY_AFTER } : {});
  }

  /** A request with an unreadable key counts as one without a key. */
  async #rateHeaders(address: string | undefined): Promise<Readonly<Record<string, string>>> {
    const { rates, clock, log = silentLogger } = this.#options;
    if (rates === undefined) return {};
    const window = windowOf(clock.now());
    const headers = {
      'X-RateLimit-Limit': String(ANONYMOUS_REQUESTS_AN_HOUR),
      'X-RateLimit-Reset': String(window.endsAt.getTime() / 1000),
    };
    try {
      const left =
        ANONYMOUS_REQUESTS_AN_HOUR - (await rates.count(`address:${clientOf(address)}`, window));
      return { ...headers, 'X-RateLimit-Remaining': String(Math.max(0, left)) };
    } catch (error) {
      log.error({ err: error }, 'http: request not counted');
      return { ...headers, 'X-RateLimit-Remaining': '0' };
    }
  }

  #envelope(error: ServiceError, headers: Readonly<Record<string, string>> = {}): Refusal {
    const requestId = this.#options.newId('req');
    const body = JSON.stringify(errorBody(error, requestId));
    const every = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Request-Id': requestId,
      'X-API-Version': API_VERSION,
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    };
    return { status: error.status, headers: every, body };
  }
}

const SERVER_FAILED = new ServiceError('INTERNAL_ERROR', 'Cannot answer: the server failed');

/** Time limit for the client to close its side, in milliseconds. */
const LINGER_MS = 2000;

/** Writes an answer to a socket that HTTP could not read, and ends it. */
export function answerRaw(socket: Duplex, clock: Clock, { status, headers, body }: Refusal): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  hangUp(socket, clock);
}

/** Ends the connection once everything is sent; what still comes is dropped, because a reset could take the response away. */
function hangUp(socket: Duplex, clock: Clock): void {
  socket.end();
  socket.resume();
  const cancel = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', cancel);
}
