/** When to ask a server again that failed or asked for patience; pure */

/** What a download may cost in time before it gives up. */
export interface RetryLimits {
  /** Failures one after another, without a new byte between them. */
  readonly failuresMax: number;
  /** Failures in all, however many bytes came between them. */
  readonly failuresInAllMax: number;
  readonly firstWaitMs: number;
  readonly waitMsMax: number;
  /** A server that asks for more patience than this is asked another day. */
  readonly retryAfterMsMax: number;
  /** For a connection, for an answer's head, and between two pieces of its body. */
  readonly stallMs: number;
}

export const DEFAULT_LIMITS: RetryLimits = {
  failuresMax: 5,
  failuresInAllMax: 100,
  firstWaitMs: 1000,
  waitMsMax: 30_000,
  retryAfterMsMax: 300_000,
  stallMs: 30_000,
};

/** Waits twice as long each time. @param failures so far, one after another: 1 for the first. */
export function waitBeforeRetryMs(failures: number, limits: RetryLimits): number {
  return Math.min(limits.firstWaitMs * 2 ** (failures - 1), limits.waitMsMax);
}

/** Reads `Retry-After`, seconds or a date, as milliseconds from `now`; null when it is neither. @see RFC 9110, 10.2.3 */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
