/** English numbers in words, American and British; pure */
import { byScales } from './number-words.ts';

const ONES = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen ' +
  'fifteen sixteen seventeen eighteen nineteen'
).split(' ');

const TENS = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

const IRREGULAR: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};

/** @param isBritish says `one hundred and one`. */
export function englishCardinal(number: number, isBritish: boolean): string {
  const scale = (value: number, name: string) => ({
    value,
    say: (count: number) => `${upTo999(count, isBritish)} ${name}`,
  });
  const scales = [scale(1e9, 'billion'), scale(1e6, 'million'), scale(1000, 'thousand')];
  return byScales(number, scales, (rest, hasMore) => {
    const words = upTo999(rest, isBritish);
    return hasMore && isBritish && rest < 100 ? `and ${words}` : words;
  });
}

export function englishOrdinal(number: number, isBritish: boolean): string {
  return englishCardinal(number, isBritish).replace(/[a-z]+$/, (last) => {
    const irregular = IRREGULAR[last];
    return irregular ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`);
  });
}

/** `nineteen oh five`, `two thousand six`, `twenty twenty-six`. */
export function englishYear(year: number, isBritish: boolean): string {
  const century = Math.floor(year / 100);
  const rest = year % 100;
  const isPlain = year < 1100 || year > 2099 || (year >= 2000 && year < 2010);
  if (isPlain) return englishCardinal(year, isBritish);
  if (rest === 0) return `${upTo99(century)} hundred`;
  return `${upTo99(century)} ${rest < 10 ? `oh ${ONES[rest]}` : upTo99(rest)}`;
}

function upTo999(number: number, isBritish: boolean): string {
  if (number < 100) return upTo99(number);
  const rest = number % 100;
  const hundreds = `${ONES[Math.floor(number / 100)]} hundred`;
  if (rest === 0) return hundreds;
  return `${hundreds} ${isBritish ? 'and ' : ''}${upTo99(rest)}`;
}

function upTo99(number: number): string {
  if (number < 20) return ONES[number] ?? '';
  const rest = number % 10;
  return `${TENS[Math.floor(number / 10)]}${rest === 0 ? '' : `-${ONES[rest]}`}`;
}
