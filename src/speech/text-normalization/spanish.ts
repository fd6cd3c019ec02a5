/** Spanish: how it reads out what is not written in words; pure */
import type { CalendarDay, ClockTime, LanguagePack, Rule } from './language-pack.ts';
import { START } from './number-text.ts';
import { spanishCardinal, spanishOrdinal } from './spanish-numbers.ts';

const DIGITS = 'cero uno dos tres cuatro cinco seis siete ocho nueve'.split(' ');

const MONTHS =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(
    ' ',
  );

export const spanish: LanguagePack = {
  decimalMark: ',',
  groupMarks: '. \\u00a0\\u202f',
  dateOrder: 'dmy',
  digits: DIGITS,
  months: MONTHS,
  words: {
    ...{ minus: 'menos', point: 'coma', percent: 'por ciento', and: 'y', to: 'a', at: 'arroba' },
    ...{ dot: 'punto', dash: 'guion', underscore: 'guion bajo', slash: 'barra', plus: 'más' },
    ...{ equals: 'igual a', number: 'número', per: ' por ' },
    ...{ star: 'asterisco', hash: 'almohadilla' },
  },
  currencies: {
    ...{ '€': { one: 'euro', many: 'euros', cent: 'céntimo', cents: 'céntimos' } },
    ...{ EUR: { one: 'euro', many: 'euros', cent: 'céntimo', cents: 'céntimos' } },
    ...{ $: { one: 'dólar', many: 'dólares', cent: 'centavo', cents: 'centavos' } },
    ...{ USD: { one: 'dólar', many: 'dólares', cent: 'centavo', cents: 'centavos' } },
    ...{
      '£': { one: 'libra', many: 'libras', cent: 'penique', cents: 'peniques', isFeminine: true },
    },
    ...{ MXN: { one: 'peso', many: 'pesos', cent: 'centavo', cents: 'centavos' } },
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
  },
  abbreviations: [
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
