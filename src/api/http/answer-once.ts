/** Answers a POST once for each idempotency key: what it saves, and the answer, are committed together. */
import { createHash } from 'node:crypto';
import type { TypedResponse } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { JSONParsed } from 'hono/utils/types';
import type { IdempotencyScope, KeptAnswer } from '../../domain/account/rate-limit.ts';
import { ERROR_STATUS, type ErrorCode, ServiceError } from '../../domain/service-error.ts';
import { type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { canonicalJson } from './canonical-json.ts';
import { parsedJson } from './parsed-json.ts';

/** The header that a customer chooses freely. */
const HEADER = 'X-Idempotency-Key';

const VISIBLE_ASCII = /^[!-~]{1,255}$/;

/** Errors that the same request would meet again; others are worth another try. */
const KEPT_ERRORS: readonly number[] = [403, 404, 409, 422];

/** A response whose JSON is a `Body`, as zod-openapi types it. */
export type JsonResponse<Body, Status extends ContentfulStatusCode> = Response &
  TypedResponse<JSONParsed<Body>, Status, 'json'>;

export interface Answer<Body, Status extends ContentfulStatusCode> {
  readonly status: Status;
  readonly body: Body;
}

/**
 * Answers with what `work` gives, or with the answer that the same key got before.
 *
 * There is no moment in which a second request could find the first one still running: between looking for the key
 * and keeping the answer this thread does nothing else.
 *
 * @param options.work saves and answers, all of it synchronously: it runs inside one transaction.
 * @param options.keep what to keep of the body, where the whole must not be kept, such as a secret shown once.
 * @param options.etag the entity tag of what the body shows.
 * @throws {ServiceError} VALIDATION_ERROR when the key is no key, UNPROCESSABLE when it was used with another body, and
 * errors of `work`.
 */
export function answerOnce<Body, Status extends ContentfulStatusCode>(
  context: ApiContext,
  deps: Pick<ApiDeps, 'idempotency' | 'clock'>,
  options: {
    readonly work: () => Answer<Body, Status>;
    readonly keep?: (body: Body) => Body;
    readonly etag?: (body: Body) => string;
  },
): JsonResponse<Body, Status> {
  const { work, keep = (body) => body, etag } = options;
  const answered = (answer: Answer<Body, Status>) => {
    if (etag !== undefined) context.header('ETag', etag(answer.body));
    return written(context, answer);
  };
  const scope = idempotencyScope(context);
  if (scope === undefined) {
    return answered(work());
  }
  const request = { ...scope, fingerprint: fingerprint(context), now: deps.clock.now() };
  let fresh: Answer<Body, Status> | undefined;
  const { answer, isReplay } = keepingErrors(deps, request, () => {
    fresh = work();
    return { status: fresh.status, body: JSON.stringify(keep(fresh.body)) };
  });
  if (fresh !== undefined && !isReplay) return answered(fresh);
  context.header('Idempotent-Replayed', 'true');
  if (answer.status >= 400) throw errorOf(answer);
  const body = JSON.parse(answer.body ?? 'null') as Body;
  return answered({ body, status: answer.status as Status });
}

/** A resource that was made is found below the path of the request. RFC 9110, 10.2.2. */
function written<Body, Status extends ContentfulStatusCode>(
  context: ApiContext,
  { body, status }: Answer<Body, Status>,
): JsonResponse<Body, Status> {
  if (status === 201) {
    const { id } = body as { readonly id?: string };
    if (id === undefined) throw new TypeError('Cannot say where the new resource is: it has no id');
    context.header('Location', `${context.req.path}/${id}`);
  }
  return context.json(body as object, status) as unknown as JsonResponse<Body, Status>;
}

/**
 * As `answerOnce`, for an answer that must be waited for and changes nothing. Requests with the same key that come while
 * the first one waits are asked as well; all get what was answered first.
 *
 * @param ask is not called where the key has its answer already.
 */
export async function answerOnceWaited<Body, Status extends ContentfulStatusCode>(
  context: ApiContext,
  deps: Pick<ApiDeps, 'idempotency' | 'clock'>,
  ask: () => Promise<Answer<Body, Status>>,
): Promise<JsonResponse<Body, Status>> {
  const scope = idempotencyScope(context);
  const isKept = scope !== undefined && deps.idempotency.has({ ...scope, now: deps.clock.now() });
  return answerOnce(context, deps, { work: isKept ? forgotten : await outcomeOf(ask) });
}

/** What was waited for, or thrown meanwhile, is given or thrown when asked for. */
async function outcomeOf<Result>(ask: () => Promise<Result>): Promise<() => Result> {
  try {
    const result = await ask();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The kept answer grew too old in the very moment. */
function forgotten(): never {
  throw new ServiceError('SERVICE_UNAVAILABLE', 'Cannot repeat the answer: retry now');
}

type Request = Parameters<ApiDeps['idempotency']['once']>[0];

/** An error undoes what was saved, so it is kept by itself afterwards. */
function keepingErrors(
  deps: Pick<ApiDeps, 'idempotency'>,
  request: Request,
  work: () => KeptAnswer,
): ReturnType<ApiDeps['idempotency']['once']> {
  try {
    return deps.idempotency.once(request, work);
  } catch (error) {
    if (error instanceof ServiceError && KEPT_ERRORS.includes(error.status)) {
      const { code, message } = error;
      const body = JSON.stringify({ code, message });
      deps.idempotency.once(request, () => ({ status: error.status, body }));
    }
    throw error;
  }
}

function errorOf(answer: KeptAnswer): ServiceError {
  const kept = JSON.parse(answer.body ?? '{}') as { code?: string; message?: string };
  const code = kept.code !== undefined && kept.code in ERROR_STATUS ? kept.code : 'INTERNAL_ERROR';
  return new ServiceError(code as ErrorCode, kept.message ?? 'Cannot repeat the answer');
}

/** Undefined when the request has no key. */
function idempotencyScope(context: ApiContext): IdempotencyScope | undefined {
  const key = context.req.header('x-idempotency-key');
  if (key === undefined) return undefined;
  if (!VISIBLE_ASCII.test(key)) {
    const message = 'expected 1 to 255 visible ASCII characters';
    throw new ServiceError('VALIDATION_ERROR', `Cannot use ${HEADER}: ${message}`, [
      { path: HEADER, message },
    ]);
  }
  const { method, path } = context.req;
  return { ...scopeOf(context), method, path, key };
}

/** A longer body counts as it is written: no resource of ours has one, and sorting it would hold up every call. */
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
