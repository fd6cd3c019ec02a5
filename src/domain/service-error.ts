/** The one error that customers see: a code of the specification, and a sentence. */

/** Code to HTTP status. @see the interface specification, "Errors" */
export const ERROR_STATUS = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  AGENT_NOT_FOUND: 404,
  CALL_NOT_FOUND: 404,
  VOICE_NOT_FOUND: 404,
  WEBHOOK_ENDPOINT_NOT_FOUND: 404,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

/** Codes of `error.code` in REST answers. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** One wrong field: its path in the body or query, and what was expected there. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** An error that a customer causes and sees: code, message and wrong fields. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];

  constructor(code: ErrorCode, message: string, details: readonly ErrorDetail[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }

  /** The HTTP status that the code stands for. */
  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** Error for a change that the state of the records forbids. */
export function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', message);
}

/** Error for a request that is well-formed and cannot be carried out. */
export function unprocessable(message: string): ServiceError {
  return new ServiceError('UNPROCESSABLE', message);
}

/** The error for a body with a wrong field. */
export function bodyFault(path: string, message: string): ServiceError {
  const fault = { path, message };
  return bodyError([fault], fault);
}

/** @throws {ServiceError} VALIDATION_ERROR with all faults of a body, where there are any; its message names the first. */
export function requireNoFaults(faults: readonly ErrorDetail[]): void {
  const [first] = faults;
  if (first !== undefined) throw bodyError(faults, first);
}

function bodyError(faults: readonly ErrorDetail[], { path, message }: ErrorDetail): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${path}: ${message}`, faults);
}

/** Why the database could not be used. */
export type StoreErrorReason =
  /** No room on the disk. */
  | 'full'
  /** The file or its file system can only be read. */
  | 'read-only'
  /** Another process held the write lock for too long. */
  | 'locked'
  /** The disk fails, or the file is damaged or gone. */
  | 'broken';

/** The database could not be read or written. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;

  constructor(message: string, reason: StoreErrorReason, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
