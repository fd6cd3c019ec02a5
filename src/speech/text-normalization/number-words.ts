/** Whole numbers in words: what the languages have in common; pure */

/** Larger numbers are read digit by digit. */
export const CARDINAL_MAX = 999_999_999_999;

/** A power of a thousand by which a language counts, and how it says so many of them. */
export interface Scale {
  readonly value: number;
  readonly say: (count: number) => string;
}

/**
 * Says a number as the language counts: thousands, millions and so on by `scales`, largest first, and the rest by
 * `small`.
 *
 * @throws {RangeError} when it is no whole number from 0 to `CARDINAL_MAX`.
 */
export function byScales(
  number: number,
  scales: readonly Scale[],
  small: (rest: number, hasMore: boolean) => string,
): string {
  if (!Number.isInteger(number) || number < 0 || number > CARDINAL_MAX) {
    throw new RangeError(`Cannot say "${number}": expected a whole number up to ${CARDINAL_MAX}`);
  }
  const parts: string[] = [];
  let rest = number;
  for (const { value, say } of scales) {
    const count = Math.floor(rest / value);
    if (count > 0) parts.push(say(count));
    rest %= value;
  }
  if (rest > 0 || parts.length === 0) parts.push(small(rest, parts.length > 0));
  return parts.join(' ');
}
