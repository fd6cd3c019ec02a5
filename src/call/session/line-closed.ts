/** Waits for a line to close at the end of its call. */
import type { Clock } from '../../lib/clock.ts';
import type { Leg } from '../../telephony/carrier.ts';

/** Closing a line writes the last second of its recording. */
const LINE_CLOSE_MS_MAX = 5000;

/** Resolves when the recording is whole; a disk that hangs must not keep the record from its end. */
export async function lineClosed(leg: Leg, clock: Clock): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const cancel = clock.after(LINE_CLOSE_MS_MAX, timeout.resolve);
  // Over already: nothing is said to the far end, only waited for what ends with the leg.
  await Promise.race([leg.hangUp().catch(() => undefined), timeout.promise]);
  cancel();
}
