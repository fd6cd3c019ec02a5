/** How loud each side of a call is, and how far a meter shows it; pure */

/** As quiet as the server tells, in dBFS. */
export const LEVEL_DBFS_MIN = -90;

/** Quieter than this a line is at rest, and its meter empty. */
const SHOWN_DBFS_MIN = -60;

/** A meter falls from full to empty in this time, so that words are seen and not only syllables. */
const FALL_MS = 900;

export interface Levels {
  readonly caller: number;
  readonly agent: number;
}

/** How full a meter is, from 0 to 1. */
export function fillOf(dbfs: number): number {
  const fill = (dbfs - SHOWN_DBFS_MIN) / -SHOWN_DBFS_MIN;
  return Number.isFinite(fill) ? Math.min(1, Math.max(0, fill)) : 0;
}

/** How full it is after `passedMs`: rises at once, falls evenly. */
export function fallen(shown: number, target: number, passedMs: number): number {
  return Math.max(target, shown - passedMs / FALL_MS);
}
