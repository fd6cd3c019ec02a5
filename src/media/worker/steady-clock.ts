/** The machine's clock for the media thread: rings to the tenth of a millisecond, and lets packets gather meanwhile. */
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Alarm } from './alarm.ts';

/** A timer of the event loop may ring late by about so much; the rest of the wait is slept exactly. */
const TIMER_MS = 2;

/**
 * The event loop counts whole milliseconds and wakes for each packet. This clock gives it one turn, in which it takes
 * all packets that have come, and then sleeps the thread itself until the instant. So a thread with hundreds of lines
 * wakes a thousand times a second rather than for every packet, and packets leave at their time; what arrives meanwhile
 * waits for a millisecond at most.
 *
 * @param alarm wakes the thread for a turn of its event loop: for a reply that is to begin now.
 */
export function steadyClock(alarm: Alarm): Clock {
  return {
    ...systemClock,
    after: (delayMs, ring) => {
      const dueAtMs = systemClock.nowMs() + delayMs;
      let cancel: () => void;
      const sleepOn = () => {
        const restMs = dueAtMs - systemClock.nowMs();
        if (restMs <= 0 || alarm.sleep(restMs)) ring();
        else cancel = afterTurn(sleepOn);
      };
      cancel =
        delayMs > TIMER_MS ? systemClock.after(delayMs - TIMER_MS, sleepOn) : afterTurn(sleepOn);
      return () => cancel();
    },
  };
}

/** Lets the event loop take what has come, then goes on. */
function afterTurn(act: () => void): () => void {
  const immediate = setImmediate(act);
  return () => clearImmediate(immediate);
}
