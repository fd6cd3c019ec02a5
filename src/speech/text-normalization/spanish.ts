/** Spanish: spoken forms of numbers, dates, symbols and abbreviations; pure */
import type { CalendarDay, ClockTime, LanguagePack, Rule } from './language-pack.ts';
import { byScales, START } from './quantity-rules.ts';

const DIGITS = 'cero uno dos tres cuatro cinco seis siete ocho nueve'.split(' ');

const MONTHS =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(
    ' ',
  );

const PESO = { one: 'peso', many: 'pesos', cent: 'centavo', cents: 'centavos' };
const DOLLAR = { one: 'dólar', many: 'dólares', cent: 'centavo', cents: 'centavos' };

/** @param region habits of the region: what `$` is, and which of `1.234,5` and `1,234.5` is meant. */
export function spanish(
  region: { readonly hasPesos?: boolean; readonly hasDecimalPoint?: boolean } = {},
): LanguagePack {
  const { hasPesos = false, hasDecimalPoint = false } = region;
  return {
    ...SPANISH,
    ...(hasDecimalPoint && { decimalMark: '.', groupMarks: ', \\u00a0\\u202f' }),
    ...(hasPesos && { currencies: { ...SPANISH.currencies, $: PESO } }),
  };
}

const SPANISH: LanguagePack = {
  decimalMark: ',',
  groupMarks: '. \\u00a0\\u202f',
  dateOrder: 'dmy',
  digits: DIGITS,
  words: {
    ...{ minus: 'menos', point: 'coma', percent: 'por ciento', and: 'y', to: 'a', at: 'arroba' },
    ...{ dot: 'punto', dash: 'guion', underscore: 'guion bajo', slash: 'barra', plus: 'más' },
    ...{ equals: 'igual a', number: 'número', per: ' por ' },
    ...{ star: 'asterisco', hash: 'almohadilla' },
  },
  currencies: {
    ...{ '€': { one: 'euro', many: 'euros', cent: 'céntimo', cents: 'céntimos' } },
    ...{ EUR: { one: 'euro', many: 'euros', cent: 'céntimo', cents: 'céntimos' } },
    ...{ $: DOLLAR, USD: DOLLAR, US$: DOLLAR },
    ...{
      '£': { one: 'libra', many: 'libras', cent: 'penique', cents: 'peniques', isFeminine: true },
    },
    ...{ MXN: PESO, MX$: PESO },
  },
  moneyJoin: { text: ' con ', namesCents: true },
  magnitudes: {
    ...{ millones: { say: 'millones', of: ' de ' }, mil: { say: 'mil', of: ' ' } },
    M: { say: 'millones', of: ' de ' },
  },
  units: {
    ...unit('km', 'kilómetro'),
    ...unit('m', 'metro'),
    ...unit('cm', 'centímetro'),
    ...unit('mm', 'milímetro'),
    ...unit('kg', 'kilogramo'),
    ...unit('g', 'gramo'),
    ...unit('mg', 'miligramo'),
    ...unit('l', 'litro'),
    ...unit('ml', 'mililitro'),
    ...{ 'km/h': { one: 'kilómetro por hora', many: 'kilómetros por hora' } },
    ...{ 'm²': { one: 'metro cuadrado', many: 'metros cuadrados' } },
    ...{ '°': { one: 'grado', many: 'grados' }, '°C': { one: 'grado', many: 'grados' } },
    ...{ ºC: { one: 'grado', many: 'grados' } },
    ...{ h: { one: 'hora', many: 'horas', isFeminine: true } },
    ...{ min: { one: 'minuto', many: 'minutos' } },
    ...{ GB: { one: 'gigabyte', many: 'gigabytes' }, MB: { one: 'megabyte', many: 'megabytes' } },
  },
  fractions: {
    ...{ '1/2': 'un medio', '½': 'medio', '1/3': 'un tercio', '2/3': 'dos tercios' },
    ...{ '1/4': 'un cuarto', '¼': 'un cuarto', '3/4': 'tres cuartos', '¾': 'tres cuartos' },
    '24/7': 'veinticuatro siete',
  },
  numbered: [
    ...'capítulo Capítulo parte Parte tomo Tomo volumen Volumen acto Acto fase Fase tipo Tipo nivel Nivel'.split(
      ' ',
    ),
    ...['siglo', 'Siglo', 'artículo', 'Artículo', 'clase', 'Clase'],
  ],
  dateCues: ['el', 'del', 'al', 'hasta el', 'desde el'],
  abbreviations: [
    ['y/o(?!\\p{L})', 'y o'],
    ['~(?=\\d)', 'unos'],
    ['Sr\\.(?=\\s)', 'señor'],
    ['Sra\\.(?=\\s)', 'señora'],
    ['Srta\\.(?=\\s)', 'señorita'],
    ['Dr\\.(?=\\s)', 'doctor'],
    ['Dra\\.(?=\\s)', 'doctora'],
    ['D\\.ª(?=\\s)', 'doña'],
    ['Ud\\.', 'usted'],
    ['Uds\\.', 'ustedes'],
    ['p\\.\\s?ej\\.', 'por ejemplo'],
    ['etc\\.', 'etcétera'],
    ['aprox\\.', 'aproximadamente'],
    ['[Tt]el\\.', 'teléfono'],
    ['[Nn](?:úm\\.|\\.º|º)\\s?(?=\\d)', 'número '],
    ['Avda\\.', 'avenida'],
    ['C/\\s?(?=\\p{Lu})', 'calle '],
    ['EE\\.\\s?UU\\.', 'Estados Unidos'],
  ],
  spelt: ['UE', 'ADN', 'IP', 'IA'],
  weekdays: weekdays(),
  labels: ['número', 'n[.]?º', 'código(?: postal)?', 'pedido', 'cuenta', 'expediente', 'PIN'],
  dialed: '(?<=(?:[Mm]arque el|marcar el|[Ll]lame al)\\s)(?:112|911)',
  perWords: ['mes', 'año', 'semana', 'día', 'noche', 'hora', 'persona', 'minuto'],
  cardinal: (number, counted) =>
    spanishCardinal(number, counted === undefined ? 'uno' : counted.isFeminine ? 'una' : 'un'),
  year: (year) => spanishCardinal(year),
  date: dateWords,
  time: timeWords,
  digitGroup: (group) => [...group].map((digit) => DIGITS[Number(digit)] ?? digit).join(' '),
  rules: rules(),
};

function unit(symbol: string, name: string) {
  return { [symbol]: { one: name, many: `${name}s` } };
}

function weekdays(): Readonly<Record<string, string>> {
  const names = 'lunes martes miércoles jueves viernes sábado domingo'.split(' ');
  const forms = names.flatMap((name) => {
    const capital = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return [name, name.slice(0, 3), capital, capital.slice(0, 3)].map((form) => [form, name]);
  });
  return Object.fromEntries(forms);
}

function dateWords({ day, month, year }: CalendarDay): string {
  const words = `${day === 1 ? 'primero' : spanishCardinal(day)} de ${MONTHS[month - 1]}`;
  return year === undefined ? words : `${words} de ${spanishCardinal(year)}`;
}

/** The article stands in the text: `a las 10:15`. */
function timeWords({ hour, minute, half }: ClockTime): string {
  const suffix = half === undefined ? '' : half === 'am' ? ' de la mañana' : ' de la tarde';
  const hours = spanishCardinal(hour, 'una');
  if (minute === 0) return `${hours}${suffix === '' ? ' en punto' : suffix}`;
  const isTwelve = hour <= 12;
  const minutes =
    isTwelve && minute === 15
      ? 'cuarto'
      : isTwelve && minute === 30
        ? 'media'
        : spanishCardinal(minute);
  return `${hours} y ${minutes}${suffix}`;
}

function rules(): readonly Rule[] {
  return [
    {
      pattern: new RegExp(
        `${START}([01]?\\d|2[0-3]):([0-5]\\d)\\s?(?:h|hrs?)(?![\\p{L}\\p{N}])`,
        'gu',
      ),
      say: ({ parts: [, hour = '', minute = ''] }) =>
        timeWords({ hour: Number(hour), minute: Number(minute) }),
    },
    {
      pattern: new RegExp(
        `${START}(\\d{1,2}) de (${MONTHS.join('|')})(?!\\p{L})(?: del? (\\d{4})(?!\\p{N}))?`,
        'giu',
      ),
      say: ({ parts: [, day = '', month = '', year] }) => {
        const number = Number(day);
        if (number < 1 || number > 31) return null;
        const date = { day: number, month: MONTHS.indexOf(month.toLowerCase()) + 1 };
        return dateWords(year === undefined ? date : { ...date, year: Number(year) });
      },
    },
    {
      pattern: new RegExp(`${START}(\\d{1,2})\\.?([ºª])(?!\\p{L})`, 'gu'),
      say: ({ parts: [, number = '', sign] }) =>
        spanishOrdinal(Number(number), sign === 'ª' ? 'a' : 'o'),
    },
    {
      pattern: new RegExp(`${START}(1\\d|2[0-3]|0?\\d) ?h(?![\\p{L}\\p{N}])(?=[^\\p{L}]|$)`, 'gu'),
      say: ({ parts: [, hour = ''] }) =>
        `${spanishCardinal(Number(hour), 'una')} ${Number(hour) === 1 ? 'hora' : 'horas'}`,
    },
    {
      pattern: new RegExp(`${START}([1-9])\\.?er(?!\\p{L})`, 'gu'),
      say: ({ parts: [, number = ''] }) => spanishOrdinal(Number(number), 'o').replace(/o$/, ''),
    },
    { pattern: /(?<=(?<!\p{L})a la )1(?![\p{L}\p{N}:.,º])/gu, say: () => 'una' },
    {
      // Before a noun: `un gato`, `veintiuna casas`.
      pattern: new RegExp(
        `${START}(\\d{0,2}[02-9]?1)(?=\\s(?!(?:de|del|y|o|a|al|en|por|con|que|es|son)\\s)\\p{Ll}{1,30}?(as?)?(?!\\p{L}))`,
        'gu',
      ),
      say: ({ parts: [, number = '', ending] }) =>
        /11$|^0/.test(number)
          ? null
          : spanishCardinal(Number(number), ending === undefined ? 'un' : 'una'),
    },
  ];
}

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
type SpanishOne = 'uno' | 'un' | 'una';

/** Spanish numbers in words */
function spanishCardinal(number: number, one: SpanishOne = 'uno'): string {
  const scales = [
    {
      value: 1e6,
      say: (count: number) => (count === 1 ? 'un millón' : `${upTo999999(count, 'un')} millones`),
    },
  ];
  return byScales(number, scales, (rest) => upTo999999(rest, one));
}

/** Up to 99; further on Spanish counts. @param ending `o` or `a`. */
function spanishOrdinal(number: number, ending: 'o' | 'a'): string {
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
