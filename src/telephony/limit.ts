/** Time limits for replies that a lost connection would never deliver. */
import type { Clock } from '../lib/clock.ts';

/** Longest life of a SIP transaction: 64 times T1. RFC 3261, 17.1.1.2. */
export const TRANSACTION_MS = 32_000;

/** No reply within the time limit. */
export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/**
 * Waits for a promise, but no longer than `limitMs`.
 *
 * @throws {OverdueError} when it is not settled by then.
 */
export function within<T>(clock: Clock, limitMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () =>
      reject(new OverdueError(`No answer came within ${limitMs / 1000} s`)),
    );
    promise.then(resolve, reject).finally(cancel);
  });
}
