/** Numbers as people write them, and how they are read out: money, percentages, measures, ranges and plain numbers; pure */
import type { Currency, LanguagePack, Rule } from './language-pack.ts';

export function quantityRules(pack: LanguagePack): readonly Rule[] {
  return [
    versionRule(pack),
    ...moneyRules(pack),
    percentRule(pack),
    unitRule(pack),
    perRule(pack),
    fractionRule(pack),
    rangeRule(pack),
    numberSignRule(pack),
    codeRule(pack),
    numberRule(pack),
  ];
}

/** `1.2.3` and `192.168.0.1`: no number has two points. */
function versionRule(pack: LanguagePack): Rule {
  const numbers = (text: string) => text.split('.').map((part) => numberWords(part, pack));
  return {
    pattern: new RegExp(`${START}\\d{1,5}\\.\\d{1,2}(?:\\.\\d{1,5}){1,3}${END}`, 'gu'),
    say: ({ parts: [text = ''] }) => numbers(text).join(` ${pack.words.dot} `),
  };
}

function moneyRules(pack: LanguagePack): readonly Rule[] {
  // Two figures behind the other language's mark can be no group of thousands.
  const number = `(?:\\d{1,3}(?:[,'’]\\d{3}){0,3}\\.\\d{2}|\\d{1,3}(?:[.'’]\\d{3}){0,3},\\d{2})(?![\\d])|${numberPattern(pack)}`;
  const names = alternatives(Object.keys(pack.currencies));
  const magnitudes = alternatives(Object.keys(pack.magnitudes));
  const magnitude = `(?:\\s?(${magnitudes})(?![\\p{L}\\p{N}]))?`;
  const say = (name: string, amount: string, size: string | undefined, sign: string) => {
    const currency = pack.currencies[name];
    if (currency === undefined) return null;
    const words = moneyWords(amount, size, currency, pack);
    return sign === '' ? words : `${pack.words.minus} ${words}`;
  };
  return [
    {
      pattern: new RegExp(
        `(?<![\\p{L}\\p{N}])([-−]?)(${names})\\s?(${number})${magnitude}${END}`,
        'gu',
      ),
      say: ({ parts: [, sign = '', name = '', amount = '', size] }) =>
        say(name, amount, size, sign),
    },
    {
      pattern: new RegExp(
        `${START}([-−]?)(${number})${magnitude}\\s?(${names})(?![\\p{L}\\p{N}])`,
        'gu',
      ),
      say: ({ parts: [, sign = '', amount = '', size, name = ''] }) =>
        say(name, amount, size, sign),
    },
  ];
}

function moneyWords(
  amount: string,
  size: string | undefined,
  currency: Currency,
  pack: LanguagePack,
): string {
  const { one, many, cent, cents, isFeminine = false, isCentFeminine = false } = currency;
  const magnitude = size === undefined ? undefined : pack.magnitudes[size];
  if (magnitude !== undefined) {
    return `${numberWords(amount, pack)} ${magnitude.say}${magnitude.of}${many}`;
  }
  const { whole, decimals } = numberParts(amount, pack);
  const units = Number(whole);
  if (decimals.length !== 2) {
    const unit = units === 1 && decimals === '' ? one : many;
    return `${numberWords(amount, pack, { isFeminine })} ${unit}`;
  }
  const hundredths = Number(decimals);
  const { text, namesCents } = pack.moneyJoin;
  const smallName = hundredths === 1 ? cent : cents;
  const counted = pack.cardinal(hundredths, { isFeminine: isCentFeminine });
  if (units === 0 && hundredths > 0) return `${counted} ${smallName}`;
  const large = `${numberWords(whole, pack, { isFeminine })} ${units === 1 ? one : many}`;
  if (hundredths === 0) return large;
  return `${large}${text}${namesCents ? `${counted} ${smallName}` : pack.cardinal(hundredths)}`;
}

function percentRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(`${START}([-−]?)(${numberPattern(pack)})\\s?%`, 'gu'),
    say: ({ parts: [, sign = '', number = ''] }) =>
      `${minus(sign, pack)}${numberWords(number, pack)} ${pack.words.percent}`,
  };
}

function unitRule(pack: LanguagePack): Rule {
  const units = alternatives(Object.keys(pack.units));
  return {
    pattern: new RegExp(
      `${START}([-−]?)(${numberPattern(pack)})[\\s\\u00a0\\u202f]?(${units})(?![\\p{L}\\p{N}²³/])`,
      'gu',
    ),
    say: ({ parts: [, sign = '', number = '', name = ''] }) => {
      const unit = pack.units[name];
      if (unit === undefined) return null;
      const { whole, decimals } = numberParts(number, pack);
      const isOne = Number(whole) === 1 && decimals === '';
      const words = numberWords(number, pack, { isFeminine: unit.isFeminine ?? false });
      return `${minus(sign, pack)}${words} ${isOne ? unit.one : unit.many}`;
    },
  };
}

/** `/month` after an amount. */
function perRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(
      `(?<=[\\p{N}\\p{L}€$£])\\/(?=(?:${pack.perWords.join('|')})(?![\\p{L}\\p{N}]))`,
      'giu',
    ),
    say: () => pack.words.per,
  };
}

function fractionRule(pack: LanguagePack): Rule {
  const names = alternatives(Object.keys(pack.fractions));
  return {
    pattern: new RegExp(`(?<![\\p{L}\\p{N}/])(?:(\\d{1,3})[\\s]?)?(${names})(?![\\p{N}/])`, 'gu'),
    say: ({ parts: [, whole, name = ''] }) => {
      const words = pack.fractions[name] ?? null;
      if (whole === undefined || words === null) return words;
      return `${numberWords(whole, pack)} ${pack.words.and} ${words}`;
    },
  };
}

/** `9-17` and `1999–2005`; not `555-0132-7`. */
function rangeRule(pack: LanguagePack): Rule {
  const side = (text: string) =>
    /^(1[1-9]|20)\d{2}$/.test(text) ? pack.year(Number(text)) : numberWords(text, pack);
  return {
    pattern:
      /(?<![\p{L}\p{N}/:.,-])(\d{1,4})(?:-|\s?–\s?)(\d{1,4})(?![\p{L}\p{N}]|[-–/:.,]\p{N})/gu,
    say: ({ parts: [, from = '', to = ''] }) => `${side(from)} ${pack.words.to} ${side(to)}`,
  };
}

function numberSignRule(pack: LanguagePack): Rule {
  return {
    pattern: /(?<![\p{L}\p{N}#])#(\d{1,15})(?![\p{L}\p{N}])/gu,
    say: ({ parts: [, number = ''] }) => `${pack.words.number} ${numberWords(number, pack)}`,
  };
}

/** Capital letters and digits in one word, such as a booking code, are spelled one by one. */
function codeRule(pack: LanguagePack): Rule {
  return {
    pattern:
      /(?<![\p{L}\p{N}])(?!\d{1,3}[KMB](?![\p{L}\p{N}]))(?=[A-Z]{0,11}\d)(?=\d{0,11}[A-Z])[A-Z\d]{3,12}(?![\p{L}\p{N}])/gu,
    say: ({ parts: [code = ''] }) =>
      [...code].map((sign) => (/\d/.test(sign) ? rowOfDigits(sign, pack) : sign)).join(' '),
  };
}

function numberRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(`${START}([-−]?)(${numberPattern(pack)})(?!\\p{N}|/\\p{N})`, 'gu'),
    say: ({ parts: [, sign = '', number = ''] }) =>
      `${minus(sign, pack)}${numberWords(number, pack)}`,
  };
}

function minus(sign: string, { words }: LanguagePack): string {
  return sign === '' ? '' : `${words.minus} `;
}

/** Longest first, so that `km/h` is not taken for `km`. */
export function alternatives(names: readonly string[]): string {
  const escaped = [...names].sort((a, b) => b.length - a.length).map(escapePattern);
  return escaped.join('|');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Not the middle of a word or number. */
export const START = '(?<![\\p{L}\\p{N}]|\\p{N}[.,:/])';

/** Not followed by more of the word or number. */
export const END = '(?![\\p{L}\\p{N}]|[.,:/]\\p{N})';

/** Longest run of digits that a rule looks at. */
const DIGITS_MAX = 15;

/** A number as a pattern, without groups: `1,234.5`, `1234.5`, `7`. */
function numberPattern({ decimalMark, groupMarks }: LanguagePack): string {
  // By hundreds above a thousand, as in India: 1,50,000.
  const lakh = groupMarks.includes(',') ? '\\d{1,2}(?:,\\d{2}){1,3},\\d{3}(?!\\d)|' : '';
  const whole = `(?:${lakh}\\d{1,3}(?:[${groupMarks}]\\d{3}){1,4}(?!\\d)|\\d{1,${DIGITS_MAX}})`;
  return `${whole}(?:[${decimalMark}]\\d{1,${DIGITS_MAX}})?`;
}

interface NumberParts {
  readonly whole: string;
  /** Digits after the mark; empty where there are none. */
  readonly decimals: string;
}

/** Splits a match of `numberPattern`. */
function numberParts(text: string, { decimalMark }: LanguagePack): NumberParts {
  const foreign = /[.,](?=\d{2}$)/.exec(text)?.index ?? -1;
  const at = Math.max(text.lastIndexOf(decimalMark), foreign);
  const isDecimal = at >= 0;
  return {
    whole: (isDecimal ? text.slice(0, at) : text).replace(/\D/g, ''),
    decimals: isDecimal ? text.slice(at + 1) : '',
  };
}

/** Digits one by one, such as those of a code. */
function digitWords(digits: string, { digits: names }: LanguagePack): string {
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
function numberWords(
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
