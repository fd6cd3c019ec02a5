/** How often a media thread with many lines has to wake; pure */

/** From so many lines on a thread is busy enough for what it costs to wake it. */
const MANY_LINES = 400;

/** Divides the 20 ms of a packet, so that a line has the same place in every round. */
const SPAN_MS = 2;

/**
 * A thread that has slept finds none of its code in the processor's nearer memory, the system's way to the network
 * included, and fetches it anew: the more packets are done at once, the less that is for each. Nothing is put off for it:
 * the lines' beats come together (`LineBeat`), and what callers send is read when there is something to be sent.
 *
 * @returns whole milliseconds; 1 where there are few lines, whose packets nobody shall wait for.
 */
export function batchSpanMs(lines: number): number {
  return lines < MANY_LINES ? 1 : SPAN_MS;
}
