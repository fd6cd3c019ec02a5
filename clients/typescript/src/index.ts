/** What the package exports. */
export { Offhook } from './client.ts';
export type { Download } from './download.ts';
export {
  ApiError,
  ConflictError,
  ConnectionFailedError,
  type ErrorDetail,
  ForbiddenError,
  InvalidResponseError,
  NotFoundError,
  OffhookError,
  PreconditionFailedError,
  RateLimitedError,
  RequestTimeoutError,
  ServerError,
  ServiceUnavailableError,
  UnauthorizedError,
  UnprocessableError,
  ValidationError,
  WebhookSignatureError,
  type WebhookSignatureReason,
} from './errors.ts';
export type * from './generated/types.ts';
export { ERROR_CODES } from './generated/types.ts';
export type { LiveEventStream } from './live-events.ts';
export type { PageRequest } from './pages.ts';
export type { ConditionalOptions, OffhookOptions, RequestOptions } from './request-options.ts';
export * as webhooks from './webhooks.ts';
