/** Errors of the client: one class for each kind of failure, and `OffhookError` for all. */
import type { ErrorCode } from './generated/types.ts';

/** Base of all errors of this library, but those of wrong arguments (`TypeError`, `RangeError`). */
export class OffhookError extends Error {
  override readonly name: string = 'OffhookError';
  /** HTTP status; null where there was no answer. */
  readonly status: number | null = null;
}

/** One wrong field of a request. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

export interface ApiErrorFacts {
  readonly status: number;
  /** Null where the answer is not the server's own, such as a proxy's. A newer server may have codes beyond `ErrorCode`. */
  readonly code: ErrorCode | (string & {}) | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly details: readonly ErrorDetail[];
}

/** The server answered with an error. */
export class ApiError extends OffhookError {
  override readonly name: string = 'ApiError';
  override readonly status: number;
  readonly code: ApiErrorFacts['code'];
  /** Name it in reports to the operator of the server. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** Of a 400: one for each wrong field. */
  readonly details: readonly ErrorDetail[];

  constructor(message: string, facts: ApiErrorFacts) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.details = facts.details;
  }
}

/** 400: fields of the request are wrong; `details` names them. */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError';
}

/** 401: the API key is missing, unknown or revoked. */
export class UnauthorizedError extends ApiError {
  override readonly name = 'UnauthorizedError';
}

/** 403: the key lacks the scope, or a signed link is not genuine. */
export class ForbiddenError extends ApiError {
  override readonly name = 'ForbiddenError';
}

/** 404: no such resource; `code` says of which kind. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409: the resource exists already, or its state forbids the change. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 412: the resource is newer than the version of `ifMatch`. */
export class PreconditionFailedError extends ApiError {
  override readonly name = 'PreconditionFailedError';
}

/** 422: well-formed, but cannot be carried out. */
export class UnprocessableError extends ApiError {
  override readonly name = 'UnprocessableError';
}

/** 429: the requests of the hour are used up; see `retryAfterSeconds`. */
export class RateLimitedError extends ApiError {
  override readonly name = 'RateLimitedError';
}

/** 500, and every 5xx without a class of its own. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

/** 503: the server is full, stopping, or its database is unavailable. */
export class ServiceUnavailableError extends ApiError {
  override readonly name = 'ServiceUnavailableError';
}

/** No connection, or one that was cut before the answer was whole. `cause` says why. */
export class ConnectionFailedError extends OffhookError {
  override readonly name = 'ConnectionFailedError';
}

/** An attempt took longer than the time-out. */
export class RequestTimeoutError extends OffhookError {
  override readonly name = 'RequestTimeoutError';
}

/** An answer that no server of this interface gives: `baseUrl` may lead elsewhere. */
export class InvalidResponseError extends OffhookError {
  override readonly name = 'InvalidResponseError';
  override readonly status: number;

  constructor(message: string, options: ErrorOptions & { readonly status: number }) {
    super(message, options);
    this.status = options.status;
  }
}

export type WebhookSignatureReason =
  | 'missing-header'
  | 'wrong-signature'
  | 'too-old'
  | 'not-an-event';

/** A webhook delivery that must not be trusted. Answer it with 400. */
export class WebhookSignatureError extends OffhookError {
  override readonly name = 'WebhookSignatureError';
  readonly reason: WebhookSignatureReason;

  constructor(
    message: string,
    options: ErrorOptions & { readonly reason: WebhookSignatureReason },
  ) {
    super(message, options);
    this.reason = options.reason;
  }
}
