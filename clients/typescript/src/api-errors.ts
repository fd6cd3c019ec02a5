/** Makes errors of answers. */
import {
  ApiError,
  type ApiErrorFacts,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  PreconditionFailedError,
  RateLimitedError,
  ServerError,
  ServiceUnavailableError,
  UnauthorizedError,
  UnprocessableError,
  ValidationError,
} from './errors.ts';
import type { ErrorCode } from './generated/types.ts';
import { retryAfterSeconds } from './retry.ts';

type ErrorClass = new (message: string, facts: ApiErrorFacts) => ApiError;

const CLASS_OF_CODE: Readonly<Record<ErrorCode, ErrorClass>> = {
  VALIDATION_ERROR: ValidationError,
  UNAUTHORIZED: UnauthorizedError,
  FORBIDDEN: ForbiddenError,
  NOT_FOUND: NotFoundError,
  AGENT_NOT_FOUND: NotFoundError,
  CALL_NOT_FOUND: NotFoundError,
  VOICE_NOT_FOUND: NotFoundError,
  WEBHOOK_ENDPOINT_NOT_FOUND: NotFoundError,
  CONFLICT: ConflictError,
  PRECONDITION_FAILED: PreconditionFailedError,
  UNPROCESSABLE: UnprocessableError,
  RATE_LIMITED: RateLimitedError,
  INTERNAL_ERROR: ServerError,
  SERVICE_UNAVAILABLE: ServiceUnavailableError,
};

const CLASS_OF_STATUS: Readonly<Record<number, ErrorClass>> = {
  400: ValidationError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: UnprocessableError,
  429: RateLimitedError,
  503: ServiceUnavailableError,
};

/** The error of an answer from 400 on. @param body its text, an error envelope where the server itself answered */
export function apiErrorOf(
  operation: string,
  response: Response,
  body: string,
  nowMs: number,
): ApiError {
  const { status, headers } = response;
  const envelope = envelopeOf(body);
  const facts = {
    status,
    code: textOf(envelope.code),
    requestId: textOf(envelope.requestId) ?? headers.get('x-request-id'),
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after'), nowMs),
    details: Array.isArray(envelope.details) ? envelope.details : [],
  };
  const message = textOf(envelope.message) ?? `Cannot do "${operation}": the answer is ${status}`;
  return new (classOf(facts.code, status))(message, facts);
}

function classOf(code: string | null, status: number): ErrorClass {
  const known = code !== null && Object.hasOwn(CLASS_OF_CODE, code);
  if (known) return CLASS_OF_CODE[code as ErrorCode];
  return CLASS_OF_STATUS[status] ?? (status >= 500 ? ServerError : ApiError);
}

/** The fields below `error`; none where the text is another thing. */
function envelopeOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = Object(JSON.parse(body));
    return Object(error);
  } catch {
    // The page of a proxy: the status says enough.
    return {};
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
