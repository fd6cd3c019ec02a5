/** French: how it reads out what is not written in words; pure */
import { frenchCardinal, frenchOrdinal } from './french-numbers.ts';
import type { CalendarDay, ClockTime, LanguagePack, Rule } from './language-pack.ts';
import { START } from './number-text.ts';

const DIGITS = 'zéro un deux trois quatre cinq six sept huit neuf'.split(' ');

const MONTHS =
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' ');

export const french: LanguagePack = {
  decimalMark: ',',
  groupMarks: '. \\u00a0\\u202f',
  dateOrder: 'dmy',
  digits: DIGITS,
  months: MONTHS,
  words: {
    ...{
      minus: 'moins',
      point: 'virgule',
      percent: 'pour cent',
      and: 'et',
      to: 'à',
      at: 'arobase',
    },
    ...{ dot: 'point', dash: 'tiret', underscore: 'tiret bas', slash: 'barre oblique' },
    ...{ plus: 'plus', equals: 'égale', number: 'numéro', per: ' par ' },
    ...{ star: 'étoile', hash: 'dièse' },
  },
  currencies: {
    ...{ '€': { one: 'euro', many: 'euros', cent: 'centime', cents: 'centimes' } },
    ...{ EUR: { one: 'euro', many: 'euros', cent: 'centime', cents: 'centimes' } },
    ...{ $: { one: 'dollar', many: 'dollars', cent: 'cent', cents: 'cents' } },
    ...{ USD: { one: 'dollar', many: 'dollars', cent: 'cent', cents: 'cents' } },
    ...{ '£': { one: 'livre', many: 'livres', cent: 'penny', cents: 'pence', isFeminine: true } },
    ...{ CHF: { one: 'franc suisse', many: 'francs suisses', cent: 'centime', cents: 'centimes' } },
  },
  moneyJoin: { text: ' ', namesCents: false },
  magnitudes: {
    ...{ millions: { say: 'millions', of: " d'" }, million: { say: 'million', of: " d'" } },
    ...{ milliards: { say: 'milliards', of: " d'" }, M: { say: 'millions', of: " d'" } },
  },
  units: {
    ...unit('km', 'kilomètre'),
    ...unit('m', 'mètre'),
    ...unit('cm', 'centimètre'),
    ...unit('mm', 'millimètre'),
    ...unit('kg', 'kilogramme'),
    ...unit('g', 'gramme'),
    ...unit('mg', 'milligramme'),
    ...unit('l', 'litre'),
    ...unit('ml', 'millilitre'),
    ...{ 'km/h': { one: 'kilomètre par heure', many: 'kilomètres par heure' } },
    ...{ 'm²': { one: 'mètre carré', many: 'mètres carrés' } },
    ...{ '°': { one: 'degré', many: 'degrés' }, '°C': { one: 'degré', many: 'degrés' } },
    ...{ min: { one: 'minute', many: 'minutes', isFeminine: true } },
    ...{
      Go: { one: 'gigaoctet', many: 'gigaoctets' },
      Mo: { one: 'mégaoctet', many: 'mégaoctets' },
    },
  },
  fractions: {
    ...{ '1/2': 'un demi', '½': 'un demi', '1/3': 'un tiers', '2/3': 'deux tiers' },
    ...{ '1/4': 'un quart', '¼': 'un quart', '3/4': 'trois quarts', '¾': 'trois quarts' },
  },
  abbreviations: [
    ['M\\.(?=\\s\\p{Lu})', 'monsieur'],
    ['Mme(?!\\p{L})', 'madame'],
    ['Mlle(?!\\p{L})', 'mademoiselle'],
    ['MM\\.(?=\\s)', 'messieurs'],
    ['Dr\\.?(?=\\s\\p{Lu})', 'docteur'],
    ['Me(?=\\s\\p{Lu})', 'maître'],
    ['p\\.\\s?ex\\.', 'par exemple'],
    ['c\\.-à-d\\.', "c'est-à-dire"],
    ['etc\\.', 'et cetera'],
    ['env\\.', 'environ'],
    ['[Tt]él\\.', 'téléphone'],
    ['[Nn](?:°|o)\\s?(?=\\d)', 'numéro '],
    ['av\\.(?=\\s\\p{Lu})', 'avenue'],
    ['bd(?=\\s\\p{Lu})', 'boulevard'],
    ['RDV(?!\\p{L})', 'rendez-vous'],
    ['svp(?!\\p{L})', "s'il vous plaît"],
  ],
  spelt: ['UE', 'ADN', 'IP', 'API', 'EDF', 'IA', 'USA'],
  perWords: ['mois', 'an', 'semaine', 'jour', 'nuit', 'heure', 'personne', 'minute'],
  cardinal: (number, counted) =>
    frenchCardinal(number, counted?.isFeminine === true ? 'une' : 'un'),
  year: (year) => frenchCardinal(year),
  date: dateWords,
  time: timeWords,
  digitGroup,
  rules: rules(),
};

function unit(symbol: string, name: string) {
  return { [symbol]: { one: name, many: `${name}s` } };
}

/** Pairs are read as numbers: `quarante-deux`, but `zéro un`. */
function digitGroup(group: string): string {
  if (group.length !== 2 || group.startsWith('0')) {
    return [...group].map((digit) => DIGITS[Number(digit)] ?? digit).join(' ');
  }
  return frenchCardinal(Number(group));
}

function dateWords({ day, month, year }: CalendarDay): string {
  const words = `${day === 1 ? 'premier' : frenchCardinal(day)} ${MONTHS[month - 1]}`;
  return year === undefined ? words : `${words} ${frenchCardinal(year)}`;
}

function timeWords({ hour, minute }: ClockTime): string {
  const hours = `${frenchCardinal(hour, 'une')} heure${hour > 1 ? 's' : ''}`;
  return minute === 0 ? hours : `${hours} ${frenchCardinal(minute, 'une')}`;
}

function rules(): readonly Rule[] {
  return [
    {
      pattern: /(?<![\p{L}\p{N}.,:/-])([01]?\d|2[0-4])\s?h(?:\s?([0-5]\d)(?!\p{N}))?(?!\p{L})/giu,
      say: ({ parts: [, hour = '', minute] }) =>
        timeWords({ hour: Number(hour), minute: Number(minute ?? 0) }),
    },
    {
      pattern: new RegExp(
        `${START}(\\d{1,2})(er)?\\s(${MONTHS.join('|')})(?!\\p{L})(?:\\s(\\d{4})(?!\\p{N}))?`,
        'giu',
      ),
      say: ({ parts: [, day = '', , month = '', year] }) => {
        const number = Number(day);
        if (number < 1 || number > 31) return null;
        const date = { day: number, month: MONTHS.indexOf(month.toLowerCase()) + 1 };
        return dateWords(year === undefined ? date : { ...date, year: Number(year) });
      },
    },
    {
      pattern: new RegExp(`${START}(\\d{1,4})(er|re|ère|ème|eme|e)(?!\\p{L})`, 'gu'),
      say: ({ parts: [, number = '', ending = ''] }) =>
        frenchOrdinal(
          Number(number),
          ending === 're' || ending === 'ère' ? 'ère' : ending === 'er' ? 'er' : 'e',
        ),
    },
  ];
}
