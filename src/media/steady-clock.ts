/** The machine's clock for the media thread: rings to the tenth of a millisecond, and lets packets gather meanwhile. */
import { type Clock, systemClock } from '../lib/clock.ts';

/** A timer of the event loop may ring late by about so much; the rest of the wait is slept exactly. */
const TIMER_MS = 2;

/** Nobody ever changes it: the thread waits for the time alone. */
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * The event loop counts whole milliseconds and wakes for each packet. This clock gives it one turn, in which it takes
 * all packets that have come, and then sleeps the thread itself until the instant. So a thread with hundreds of lines
 * wakes a thousand times a second rather than for every packet, and packets leave at their time; what arrives meanwhile
 * waits for a millisecond at most.
 */
export const steadyClock: Clock = {
  ...systemClock,
  after: (delayMs, ring) => {
    const dueAtMs = systemClock.nowMs() + delayMs;
    if (delayMs > TIMER_MS)
      return systemClock.after(delayMs - TIMER_MS, () => sleepOn(dueAtMs, ring));
    const immediate = setImmediate(() => sleepOn(dueAtMs, ring));
    return () => clearImmediate(immediate);
  },
};

function sleepOn(dueAtMs: number, ring: () => void): void {
  const restMs = dueAtMs - systemClock.nowMs();
  if (restMs > 0) Atomics.wait(never, 0, 0, restMs);
  ring();
}
