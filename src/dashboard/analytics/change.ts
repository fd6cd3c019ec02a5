/** How a figure has changed against the period before; pure */

export interface Change {
  /** Of the figure before; of a share, the difference of both. */
  readonly by: number;
  readonly tone: 'good' | 'bad' | 'plain';
}

/** Which way is better. */
export type Better = 'more' | 'less' | 'neither';

/** Smaller changes are none. */
const CHANGE_MIN = 0.005;

/** Undefined where one of the two is not there, or there is nothing to compare with. */
export function changeOf(
  now: number | null,
  before: number | null,
  better: Better,
): Change | undefined {
  if (now === null || before === null || before === 0) return undefined;
  return toned((now - before) / before, better);
}

/** As `changeOf`, of shares from 0 to 1: in points. */
export function differenceOf(
  now: number | null,
  before: number | null,
  better: Better,
): Change | undefined {
  return now === null || before === null ? undefined : toned(now - before, better);
}

function toned(by: number, better: Better): Change {
  if (better === 'neither' || Math.abs(by) < CHANGE_MIN) return { by, tone: 'plain' };
  return { by, tone: by > 0 === (better === 'more') ? 'good' : 'bad' };
}

/** Null where there is nothing to take a share of. */
export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
