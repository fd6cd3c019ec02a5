/** Random bytes drawn many at a time: a call for each delivery's id would cost more than its row. */
import type { RandomBytes } from '../domain/ids.ts';

const DRAWN_BYTES = 4096;

/** Gives the bytes of `random` piece by piece; each byte once. */
export function drawnRandom(random: RandomBytes): RandomBytes {
  let drawn = new Uint8Array(0);
  return (size) => {
    if (size > DRAWN_BYTES) return random(size);
    if (drawn.length < size) drawn = new Uint8Array(random(DRAWN_BYTES));
    const piece = drawn.subarray(0, size);
    drawn = drawn.subarray(size);
    return piece;
  };
}
