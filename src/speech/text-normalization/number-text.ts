/** Numbers as people write them, and how they are read out; pure */
import type { LanguagePack } from './language-pack.ts';

/** Not the middle of a word or number. */
export const START = '(?<![\\p{L}\\p{N}]|\\p{N}[.,:/])';

/** Not followed by more of the word or number. */
export const END = '(?![\\p{L}\\p{N}]|[.,:/]\\p{N})';

/** Longest run of digits that a rule looks at. */
const DIGITS_MAX = 15;

/** A number as a pattern, without groups: `1,234.5`, `1234.5`, `7`. */
export function numberPattern({ decimalMark, groupMarks }: LanguagePack): string {
  const whole = `(?:\\d{1,3}(?:[${groupMarks}]\\d{3}){1,4}(?!\\d)|\\d{1,${DIGITS_MAX}})`;
  return `${whole}(?:[${decimalMark}]\\d{1,${DIGITS_MAX}})?`;
}

export interface NumberParts {
  readonly whole: string;
  /** Digits after the mark; empty where there are none. */
  readonly decimals: string;
}

/** Takes apart what `numberPattern` has found. */
export function numberParts(text: string, { decimalMark }: LanguagePack): NumberParts {
  const at = text.lastIndexOf(decimalMark);
  const isDecimal = at >= 0;
  return {
    whole: (isDecimal ? text.slice(0, at) : text).replace(/\D/g, ''),
    decimals: isDecimal ? text.slice(at + 1) : '',
  };
}

/** Digits one by one, such as those of a code. */
export function digitWords(digits: string, { digits: names }: LanguagePack): string {
  return [...digits].map((digit) => names[Number(digit)] ?? digit).join(' ');
}

/** A long row of digits in groups of three and four, as people read them out. */
export function rowOfDigits(digits: string, pack: LanguagePack): string {
  const groups: string[] = [];
  let rest = digits;
  while (rest.length > 4) {
    groups.push(rest.slice(0, 3));
    rest = rest.slice(3);
  }
  return [...groups, rest].map((group) => digitWords(group, pack)).join(', ');
}

/** Whether a number stands for itself and no quantity: `007`, or more digits than anybody counts. */
function isCode({ whole, decimals }: NumberParts, text: string): boolean {
  if (decimals !== '') return false;
  const hasGroups = /[^\d]/.test(text);
  return (whole.length > 1 && whole.startsWith('0')) || (whole.length > 6 && !hasGroups);
}

/** Reads a number out. @param text as `numberPattern` has found it. */
export function numberWords(
  text: string,
  pack: LanguagePack,
  counted?: { readonly isFeminine: boolean },
): string {
  const parts = numberParts(text, pack);
  if (counted === undefined && isCode(parts, text)) return rowOfDigits(parts.whole, pack);
  const number = Number(parts.whole);
  const whole = number > CARDINAL_MAX ? rowOfDigits(parts.whole, pack) : undefined;
  if (parts.decimals === '') return whole ?? pack.cardinal(number, counted);
  const decimals = [...parts.decimals].map((digit) => pack.cardinal(Number(digit))).join(' ');
  return `${whole ?? pack.cardinal(number)} ${pack.words.point} ${decimals}`;
}

/** Larger numbers are read digit by digit. */
const CARDINAL_MAX = 999_999_999_999;

/** A power of a thousand by which a language counts, and its words for a number of them. */
interface Scale {
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
