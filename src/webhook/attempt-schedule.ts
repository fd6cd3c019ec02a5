/** When a delivery that failed is tried again; pure */
import { waitBeforeAttemptMs } from '../domain/webhook/webhook-delivery.ts';

/** Waits are lengthened by up to this share, so that what failed together does not come back together. */
const JITTER_SHARE = 0.05;

/**
 * When attempt `attempt` is to be followed by another; null after the last.
 *
 * @param options.endedAt The waits count from the end of the attempt before.
 * @param options.jitter From 0 to 1; the wait never is shorter than the schedule says.
 */
export function nextAttemptAt(options: {
  readonly attempt: number;
  readonly endedAt: Date;
  readonly waitsSeconds: readonly number[];
  readonly jitter: number;
}): Date | null {
  const waitMs = waitBeforeAttemptMs(options.attempt + 1, options.waitsSeconds);
  if (waitMs === null) return null;
  return new Date(options.endedAt.getTime() + waitMs * (1 + JITTER_SHARE * options.jitter));
}
