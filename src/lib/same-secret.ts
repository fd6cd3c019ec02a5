/** Comparison of secrets; pure */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in a time that does not tell how much of `given` is right. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** Texts of different lengths become comparable, and the length stays secret. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
