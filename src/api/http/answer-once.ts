/** Answers a POST once for each idempotency key; commits its writes and the answer together. */
import { createHash } from 'node:crypto';
import type { TypedResponse } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { JSONParsed } from 'hono/utils/types';
import type {
  IdempotencyStore,
  IdempotentRequest,
  KeptAnswer,
} from '../../domain/account/rate-limit.ts';
import { ERROR_STATUS, type ErrorCode, ServiceError } from '../../domain/service-error.ts';
import type { Stores } from '../../domain/stores.ts';
import { type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { parsedJson } from './request-body.ts';

/** The header that a customer chooses freely. */
const HEADER = 'X-Idempotency-Key';

const VISIBLE_ASCII = /^[!-~]{1,255}$/;

/** Errors that the same request would meet again; others are worth another try. */
const KEPT_ERRORS: readonly number[] = [403, 404, 409, 422];

/** How long the first request with a key may still take; most take milliseconds. */
const RUNNING_RETRY_SECONDS = '1';

/** A response whose JSON is a `Body`, as zod-openapi types it. */
export type JsonResponse<Body, Status extends ContentfulStatusCode> = Response &
  TypedResponse<JSONParsed<Body>, Status, 'json'>;

/** Status and body of an answer. */
export interface Answer<Body, Status extends ContentfulStatusCode> {
  readonly status: Status;
  readonly body: Body;
}

/** Saves and answers as one transaction, which also keeps the answer for the idempotency key. */
export type Commit = <Body, Status extends ContentfulStatusCode>(
  write: (stores: Stores) => Promise<Answer<Body, Status>>,
) => Promise<Answer<Body, Status>>;

interface AnswerOptions<Body, Status extends ContentfulStatusCode> {
  /** Reads and checks first; saves its changes by `commit`. */
  readonly work: (commit: Commit) => Promise<Answer<Body, Status>>;
  /** Makes the body that is kept for the idempotency key, such as without a secret shown once; the whole body unless given. */
  readonly keep?: (body: Body) => Body;
  /** The entity tag of the resource in the body. */
  readonly etag?: (body: Body) => string;
}

type OnceDeps = Pick<ApiDeps, 'idempotency' | 'transaction' | 'clock' | 'log'>;

/**
 * Answers with what `work` gives, or with the answer that the same key got before.
 *
 * @throws {ServiceError} VALIDATION_ERROR when the key is no key, UNPROCESSABLE when it was used with another body, CONFLICT
 * with Retry-After while the first request with the key runs, and errors of `work`.
 */
export async function answerOnce<Body, Status extends ContentfulStatusCode>(
  context: ApiContext,
  deps: OnceDeps,
  options: AnswerOptions<Body, Status>,
): Promise<JsonResponse<Body, Status>> {
  const { work, etag } = options;
  const answered = (answer: Answer<Body, Status>) => {
    if (etag !== undefined) context.header('ETag', etag(answer.body));
    return written(context, answer);
  };
  const request = idempotentRequest(context, deps);
  if (request === undefined) return answered(await work((write) => deps.transaction(write)));
  const kept = await claimed(context, deps, request);
  if (kept === undefined) return answered(await firstAnswer(deps, request, options));
  context.header('Idempotent-Replayed', 'true');
  if (kept.status >= 400) throw errorOf(kept);
  const body = JSON.parse(kept.body ?? 'null') as Body;
  return answered({ body, status: kept.status as Status });
}

async function claimed(
  context: ApiContext,
  { idempotency }: OnceDeps,
  request: IdempotentRequest,
): Promise<KeptAnswer | undefined> {
  try {
    return await idempotency.claim(request);
  } catch (error) {
    const isRunning = error instanceof ServiceError && error.code === 'CONFLICT';
    if (isRunning) context.header('Retry-After', RUNNING_RETRY_SECONDS);
    throw error;
  }
}

/** Carries out the first request with a key. An error before the commit is kept as the answer, or frees the key. */
async function firstAnswer<Body, Status extends ContentfulStatusCode>(
  { idempotency, transaction, log }: OnceDeps,
  request: IdempotentRequest,
  { work, keep = (body) => body }: AnswerOptions<Body, Status>,
): Promise<Answer<Body, Status>> {
  const keptOf = ({ status, body }: Answer<unknown, ContentfulStatusCode>) => {
    return { status, body: JSON.stringify(keep(body as Body)) };
  };
  // Answer that was committed, which survives a crash. `work` may return a later one, which then replaces it.
  let kept: Answer<unknown, ContentfulStatusCode> | undefined;
  const commit: Commit = async (write) => {
    const answer = await transaction(async (stores) => {
      const saved = await write(stores);
      await stores.idempotency.keep(request, keptOf(saved));
      return saved;
    });
    kept = answer;
    return answer;
  };
  try {
    const answer = await work(commit);
    if (kept !== answer) await idempotency.keep(request, keptOf(answer));
    return answer;
  } catch (error) {
    if (kept === undefined) {
      await settle(idempotency, request, error).catch((cause: unknown) => {
        log.warn({ err: cause }, 'idempotency key not freed');
      });
    }
    throw error;
  }
}

/** Keeps an error that the same request would meet again; frees the key after any other. */
async function settle(
  idempotency: IdempotencyStore,
  request: IdempotentRequest,
  error: unknown,
): Promise<void> {
  if (!(error instanceof ServiceError) || !KEPT_ERRORS.includes(error.status)) {
    return idempotency.release(request);
  }
  const { code, message, status } = error;
  return idempotency.keep(request, { status, body: JSON.stringify({ code, message }) });
}

/** A resource that was made is found below the path of the request. RFC 9110, 10.2.2. */
function written<Body, Status extends ContentfulStatusCode>(
  context: ApiContext,
  { body, status }: Answer<Body, Status>,
): JsonResponse<Body, Status> {
  if (status === 201) {
    const { id, name } = body as { readonly id?: string; readonly name?: string };
    const place = id ?? name;
    if (place === undefined) throw new TypeError('Cannot say where the new resource is: no id');
    context.header('Location', `${context.req.path}/${place}`);
  }
  return context.json(body as object, status) as unknown as JsonResponse<Body, Status>;
}

function errorOf(answer: KeptAnswer): ServiceError {
  const kept = JSON.parse(answer.body ?? '{}') as { code?: string; message?: string };
  const code = kept.code !== undefined && kept.code in ERROR_STATUS ? kept.code : 'INTERNAL_ERROR';
  return new ServiceError(code as ErrorCode, kept.message ?? 'Cannot repeat the answer');
}

/** Undefined when the request has no key. */
function idempotentRequest(
  context: ApiContext,
  { clock }: OnceDeps,
): IdempotentRequest | undefined {
  const key = context.req.header('x-idempotency-key');
  if (key === undefined) return undefined;
  if (!VISIBLE_ASCII.test(key)) {
    const message = 'expected 1 to 255 visible ASCII characters';
    throw new ServiceError('VALIDATION_ERROR', `Cannot use ${HEADER}: ${message}`, [
      { path: HEADER, message },
    ]);
  }
  const { method, path } = context.req;
  const request = { ...scopeOf(context), method, path, key };
  return { ...request, fingerprint: fingerprint(context), now: clock.now() };
}

/** A longer body is hashed as written, without sorting: none of our resources is so long, and sorting it would delay every call. */
const CANONICAL_CHARS_MAX = 200_000;

function fingerprint(context: ApiContext): string {
  return createHash('sha256')
    .update(meaningOf(context.get('bodyText')))
    .digest('hex');
}

function meaningOf(text: string): string {
  if (text === '' || text.length > CANONICAL_CHARS_MAX) return text;
  return canonicalJson(parsedJson(text));
}

/** JSON in which equal values have equal text: keys sorted, no blanks. @param value what `JSON.parse` gave. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonicalJson(item)}`);
  return `{${entries.join(',')}}`;
}
