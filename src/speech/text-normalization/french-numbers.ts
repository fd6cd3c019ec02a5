/** French numbers in words, as in France; pure */
import { byScales } from './number-words.ts';

const ONES = (
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize ' +
  'dix-sept dix-huit dix-neuf'
).split(' ');

const TENS =
  '- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt'.split(' ');

/** @param one `un`, or `une` before a feminine noun. */
export function frenchCardinal(number: number, one: 'un' | 'une' = 'un'): string {
  const scale = (value: number, name: string) => ({
    value,
    say: (count: number) => `${upTo999(count, 'un', true)} ${name}${count === 1 ? '' : 's'}`,
  });
  const thousand = {
    value: 1000,
    say: (count: number) => (count === 1 ? 'mille' : `${upTo999(count, 'un', false)} mille`),
  };
  const scales = [scale(1e9, 'milliard'), scale(1e6, 'million'), thousand];
  return byScales(number, scales, (rest) => upTo999(rest, one, true));
}

export function frenchOrdinal(number: number, ending: 'er' | 'ère' | 'e'): string {
  if (number === 1) return ending === 'ère' ? 'première' : 'premier';
  return frenchCardinal(number).replace(/\p{L}+$/u, (last) => {
    if (last === 'cinq') return 'cinquième';
    if (last === 'neuf') return 'neuvième';
    return `${last.replace(/(?:e|(?<=vingt|cent)s)$/, '')}ième`;
  });
}

/** @param isLast whether nothing follows, so that `vingts` and `cents` have their s. */
function upTo999(number: number, one: string, isLast: boolean): string {
  const hundreds = Math.floor(number / 100);
  const rest = number % 100;
  if (hundreds === 0) return upTo99(rest, one, isLast);
  const before = hundreds === 1 ? 'cent' : `${ONES[hundreds]} cent`;
  if (rest === 0) return isLast && hundreds > 1 ? `${before}s` : before;
  return `${before} ${upTo99(rest, one, isLast)}`;
}

function upTo99(number: number, one: string, isLast: boolean): string {
  if (number === 1) return one;
  if (number < 20) return ONES[number] ?? '';
  if (number === 80) return isLast ? 'quatre-vingts' : 'quatre-vingt';
  const tens = Math.floor(number / 10);
  // 70 to 79 and 90 to 99 count on from the ten before.
  const rest = (number % 10) + (tens === 7 || tens === 9 ? 10 : 0);
  const before = TENS[tens] ?? '';
  if (rest === 0) return before;
  const isJoined = (rest === 1 || rest === 11) && tens < 8;
  const word = rest === 1 ? one : ONES[rest];
  return isJoined ? `${before} et ${word}` : `${before}-${word}`;
}
