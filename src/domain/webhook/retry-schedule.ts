/** The retry schedule of webhook deliveries; pure */

/**
 * Wait before each attempt, in seconds: five attempts, the first at once. `WEBHOOK_BACKOFF_SECONDS` replaces it.
 *
 * @see the interface specification, "Delivery and retry rules"
 */
export const RETRY_WAITS_SECONDS: readonly number[] = [0, 30, 120, 600, 1800];

/** Waits are lengthened by up to this share, so that deliveries that failed together do not come back together. */
const JITTER_SHARE = 0.05;

/** The longest time between two attempts, in milliseconds. */
export function longestWaitMs(waitsSeconds: readonly number[]): number {
  return Math.max(0, ...waitsSeconds) * 1000 * (1 + JITTER_SHARE);
}

/**
 * The instant of the attempt that follows attempt `attempt` (1-based); null after the last.
 *
 * @param options.endedAt End of attempt `attempt`.
 * @param options.waitsSeconds Wait before each attempt; as many attempts as waits.
 * @param options.jitter From 0 to 1; a wait is never shorter than the schedule says.
 */
export function nextAttemptAt(options: {
  readonly attempt: number;
  readonly endedAt: Date;
  readonly waitsSeconds: readonly number[];
  readonly jitter: number;
}): Date | null {
  const waitSeconds = options.waitsSeconds[options.attempt];
  if (waitSeconds === undefined) return null;
  const waitMs = waitSeconds * 1000 * (1 + JITTER_SHARE * options.jitter);
  return new Date(options.endedAt.getTime() + waitMs);
}
