/** Which error a client throws for each `error.code`; pure */
import { ERROR_STATUS, type ErrorCode } from '../../src/domain/service-error.ts';
import type { FaultCase } from './fault-case.ts';
import { errorStep } from './fault-server.ts';

export const KIND_OF_CODE: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'Validation',
  UNAUTHORIZED: 'Unauthorized',
  FORBIDDEN: 'Forbidden',
  NOT_FOUND: 'NotFound',
  AGENT_NOT_FOUND: 'NotFound',
  CALL_NOT_FOUND: 'NotFound',
  VOICE_NOT_FOUND: 'NotFound',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'NotFound',
  CONFLICT: 'Conflict',
  PRECONDITION_FAILED: 'PreconditionFailed',
  UNPROCESSABLE: 'Unprocessable',
  RATE_LIMITED: 'RateLimited',
  INTERNAL_ERROR: 'Server',
  SERVICE_UNAVAILABLE: 'ServiceUnavailable',
};

/** One case for each code. */
export const CODE_CASES: readonly FaultCase[] = Object.entries(KIND_OF_CODE).map(([code, kind]) => {
  const status = ERROR_STATUS[code as ErrorCode];
  return {
    name: `${status} ${code}`,
    steps: [errorStep(status, code)],
    open: { maxRetries: 0 },
    expected: { kind, status, code, requestId: 'req_fault' },
    requests: 1,
  };
});
