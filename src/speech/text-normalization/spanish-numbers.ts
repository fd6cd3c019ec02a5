/** Spanish numbers in words; pure */
import { byScales } from './number-words.ts';

const ONES = (
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince ' +
  'dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro ' +
  'veinticinco veintiséis veintisiete veintiocho veintinueve'
).split(' ');

const TENS = '- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa'.split(' ');

const HUNDREDS = (
  '- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos ' +
  'novecientos'
).split(' ');

const ORDINALS = (
  '- primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo ' +
  'decimotercero decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo decimonoveno'
).split(' ');

const ORDINAL_TENS =
  '- - vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo'.split(
    ' ',
  );

/** `uno` alone, `un` before a masculine noun, `una` before a feminine one. */
export type SpanishOne = 'uno' | 'un' | 'una';

export function spanishCardinal(number: number, one: SpanishOne = 'uno'): string {
  const scales = [
    {
      value: 1e6,
      say: (count: number) => (count === 1 ? 'un millón' : `${upTo999999(count, 'un')} millones`),
    },
  ];
  return byScales(number, scales, (rest) => upTo999999(rest, one));
}

/** Up to 99; further on Spanish counts. @param ending `o` or `a`. */
export function spanishOrdinal(number: number, ending: 'o' | 'a'): string {
  if (number < 1 || number > 99) return spanishCardinal(number);
  const rest = number % 10;
  const words =
    number < 20
      ? (ORDINALS[number] ?? '')
      : `${ORDINAL_TENS[Math.floor(number / 10)]}${rest === 0 ? '' : ` ${ORDINALS[rest]}`}`;
  return ending === 'a' ? words.replace(/o(?= |$)/g, 'a') : words;
}

function upTo999999(number: number, one: SpanishOne): string {
  const thousands = Math.floor(number / 1000);
  const rest = number % 1000;
  if (thousands === 0) return upTo999(number, one);
  const before =
    thousands === 1 ? 'mil' : `${upTo999(thousands, one === 'una' ? 'una' : 'un')} mil`;
  return rest === 0 ? before : `${before} ${upTo999(rest, one)}`;
}

function upTo999(number: number, one: SpanishOne): string {
  if (number === 100) return 'cien';
  if (number < 100) return upTo99(number, one);
  const rest = number % 100;
  const word = HUNDREDS[Math.floor(number / 100)] ?? '';
  const hundreds = one === 'una' ? word.replace(/os$/, 'as') : word;
  return rest === 0 ? hundreds : `${hundreds} ${upTo99(rest, one)}`;
}

function upTo99(number: number, one: SpanishOne): string {
  if (number === 1) return one;
  if (number === 21) return one === 'un' ? 'veintiún' : `veinti${one}`;
  if (number < 30) return ONES[number] ?? '';
  const rest = number % 10;
  const tens = TENS[Math.floor(number / 10)] ?? '';
  return rest === 0 ? tens : `${tens} y ${upTo99(rest, one)}`;
}
