/** Rows that have had their time, and the contract of the store that deletes them. */

/** So many rows a call, so that the thread which also holds the conversations is soon free again. */
export const PRUNED_ROWS_MAX = 1000;

/** A delivery keeps its newest attempts. */
export const ATTEMPTS_KEPT = 50;

/** Deletes what is kept for a time only. */
export interface Retention {
  /**
   * Deletes what is left of deleted webhook endpoints, and the oldest of: answers older than `IDEMPOTENCY_KEPT_MS`; events older than `EVENTS_KEPT_MS`, with their
   * deliveries and the attempts of those; SIP messages of calls older than `SIP_TRACES_KEPT_MS`; attempts of a delivery beyond its newest `ATTEMPTS_KEPT`.
   *
   * @returns how many rows went; `PRUNED_ROWS_MAX` means that there may be more.
   */
  prune(now: Date): number;
}
