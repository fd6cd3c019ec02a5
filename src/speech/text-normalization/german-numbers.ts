/** German numbers in words; pure */
import { byScales } from './number-words.ts';

const ONES = (
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn ' +
  'sechzehn siebzehn achtzehn neunzehn'
).split(' ');

const TENS = '- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ');

const IRREGULAR: Readonly<Record<number, string>> = {
  1: 'erst',
  3: 'dritt',
  7: 'siebt',
  8: 'acht',
};

/** @param one how a one at the end is said: `ein Euro`, `eine Million`, `einhunderteins`. */
export function germanCardinal(number: number, one: 'eins' | 'ein' | 'eine' = 'eins'): string {
  const scales = [
    {
      value: 1e9,
      say: (count: number) => `${upTo999(count, 'eine')} Milliarde${count === 1 ? '' : 'n'}`,
    },
    {
      value: 1e6,
      say: (count: number) => `${upTo999(count, 'eine')} Million${count === 1 ? '' : 'en'}`,
    },
  ];
  return byScales(number, scales, (rest) => upTo999999(rest, one));
}

/** With the ending that the place in the sentence asks for: `e`, `en` or `er`. */
export function germanOrdinal(number: number, ending: 'e' | 'en' | 'er'): string {
  return `${ordinalStem(number)}${ending}`;
}

/** `neunzehnhundertneunundneunzig`, `zweitausendsechs`. */
export function germanYear(year: number): string {
  if (year < 1100 || year > 1999) return germanCardinal(year);
  const rest = year % 100;
  return `${upTo99(Math.floor(year / 100), 'ein')}hundert${rest === 0 ? '' : upTo99(rest, 'eins')}`;
}

function ordinalStem(number: number): string {
  const rest = number % 100;
  const before = number - rest === 0 ? '' : germanCardinal(number - rest, 'ein');
  if (rest === 0) return `${before}st`;
  const stem = IRREGULAR[rest] ?? (rest < 20 ? `${ONES[rest]}t` : `${upTo99(rest, 'eins')}st`);
  return `${before}${stem}`;
}

function upTo999999(number: number, one: string): string {
  const thousands = Math.floor(number / 1000);
  if (thousands === 0) return upTo999(number, one);
  const rest = number % 1000;
  return `${upTo999(thousands, 'ein')}tausend${rest === 0 ? '' : upTo999(rest, one)}`;
}

function upTo999(number: number, one: string): string {
  if (number < 100) return upTo99(number, one);
  const rest = number % 100;
  const hundreds = Math.floor(number / 100);
  return `${hundreds === 1 ? 'ein' : ONES[hundreds]}hundert${rest === 0 ? '' : upTo99(rest, one)}`;
}

function upTo99(number: number, one: string): string {
  if (number === 1) return one;
  if (number < 20) return ONES[number] ?? '';
  const rest = number % 10;
  const tens = TENS[Math.floor(number / 10)] ?? '';
  if (rest === 0) return tens;
  return `${rest === 1 ? 'ein' : ONES[rest]}und${tens}`;
}
