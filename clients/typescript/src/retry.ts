/** When a failed attempt is repeated, and after which wait; pure */
import {
  ApiError,
  ConflictError,
  ConnectionFailedError,
  RateLimitedError,
  RequestTimeoutError,
  ServerError,
  ServiceUnavailableError,
} from './errors.ts';

/**
 * `always`: repeating does no harm. `keyed`: likewise, thanks to the idempotency key. `refused`: only where the server
 * says that it did nothing.
 */
export type RetryRule = 'always' | 'keyed' | 'refused';

const FIRST_WAIT_MS = 500;
const WAIT_MS_MAX = 8_000;

/**
 * Wait before the next attempt, in milliseconds; null where there is to be none.
 *
 * @param attempt Number of the attempt that failed, from 0.
 * @param chance From 0 to 1: spreads the waits of many clients.
 */
export function retryWaitMs(
  error: unknown,
  plan: { readonly rule: RetryRule; readonly attempt: number; readonly chance: number },
  limits: { readonly maxRetries: number; readonly maxRetryAfterMs: number },
): number | null {
  if (plan.attempt >= limits.maxRetries || !isPassing(error, plan.rule)) return null;
  const askedMs = error instanceof ApiError ? error.retryAfterSeconds : null;
  if (askedMs === null) return backOffMs(plan.attempt, plan.chance);
  return askedMs * 1000 > limits.maxRetryAfterMs ? null : askedMs * 1000;
}

/** Exponential back-off: half of it is certain, the other half is left to chance. */
export function backOffMs(attempt: number, chance: number): number {
  const wholeMs = Math.min(FIRST_WAIT_MS * 2 ** attempt, WAIT_MS_MAX);
  return wholeMs * (0.5 + chance / 2);
}

function isPassing(error: unknown, rule: RetryRule): boolean {
  if (error instanceof RateLimitedError || error instanceof ServiceUnavailableError) return true;
  if (rule === 'refused') return false;
  // The first attempt with the key is still running.
  if (error instanceof ConflictError) return rule === 'keyed' && error.retryAfterSeconds !== null;
  return (
    error instanceof ServerError ||
    error instanceof ConnectionFailedError ||
    error instanceof RequestTimeoutError
  );
}

/** Reads `Retry-After`: seconds, or a date. @see RFC 9110 section 10.2.3 */
export function retryAfterSeconds(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  // `Date.parse` alone takes almost anything, "-7" for one.
  const atMs = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
