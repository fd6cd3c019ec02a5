/** How many events are fanned out at a time, so that the thread which also holds the conversations is soon free again; pure */

/** Enough for a server that is not behind. */
export const BATCH_EVENTS_FIRST = 64;

const BATCH_EVENTS_MIN = 8;
const BATCH_EVENTS_MAX = 512;

/** A batch may take so long: an event may go to one endpoint or to a hundred, and only time tells. */
const BATCH_MS_MAX = 12;
const BATCH_MS_MIN = 5;

/** The size of the next batch after a full one that took so long: half, twice, or the same. */
export function nextBatchSize(events: number, tookMs: number): number {
  if (tookMs > BATCH_MS_MAX) return Math.max(BATCH_EVENTS_MIN, Math.floor(events / 2));
  if (tookMs < BATCH_MS_MIN) return Math.min(BATCH_EVENTS_MAX, events * 2);
  return events;
}
