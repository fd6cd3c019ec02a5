/** The outline of a recording at the width at which it is drawn; pure */
import { msAt, type Stretch } from './time-line.ts';

/** What a side of the call sounded like: the loudest sample of each of equally long pieces, from 0 to 1. */
export type Peaks = readonly number[];

/**
 * The loudest of what lies in each column, from 0 to 1; 0 beyond the recording's end. Where columns are finer than the
 * pieces, neighbours share one.
 */
export function columnsOf(
  peaks: Peaks,
  durationMs: number,
  stretch: Stretch,
  columns: number,
): readonly number[] {
  const pieceMs = durationMs / Math.max(1, peaks.length);
  return Array.from({ length: Math.max(0, columns) }, (_, column) => {
    const first = Math.floor(msAt(stretch, column / columns) / pieceMs);
    const end = Math.ceil(msAt(stretch, (column + 1) / columns) / pieceMs);
    return loudest(peaks, Math.max(0, first), Math.max(first + 1, end));
  });
}

function loudest(peaks: Peaks, first: number, end: number): number {
  let most = 0;
  for (let index = first; index < end && index < peaks.length; index += 1) {
    most = Math.max(most, peaks[index] ?? 0);
  }
  return Math.min(1, most);
}

/** Height of a bar, from 0 to 1: speech that is hardly loud is to be seen too, so the scale is that of the ear. */
export function heightOf(peak: number): number {
  return peak <= 0 ? 0 : Math.min(1, peak) ** 0.6;
}

/** How many pieces to ask for: one each 50 ms, within what the server gives. */
export function pointsFor(durationMs: number): number {
  return Math.min(5000, Math.max(1000, Math.ceil(durationMs / 50)));
}
