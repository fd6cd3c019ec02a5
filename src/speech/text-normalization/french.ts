/** French: spoken forms of numbers, dates, symbols and abbreviations; pure */
import type { CalendarDay, ClockTime, LanguagePack, Rule } from './language-pack.ts';
import { byScales, START } from './quantity-rules.ts';

const DIGITS = 'zéro un deux trois quatre cinq six sept huit neuf'.split(' ');

const MONTHS =
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' ');

export const french: LanguagePack = {
  decimalMark: ',',
  groupMarks: '. \\u00a0\\u202f',
  dateOrder: 'dmy',
  digits: DIGITS,
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
    '24/7': 'vingt-quatre heures sur vingt-quatre, sept jours sur sept',
  },
  numbered: [
    ...'chapitre Chapitre partie Partie tome Tome volume Volume acte Acte phase Phase type Type niveau Niveau'.split(
      ' ',
    ),
    ...['article', 'Article', 'classe', 'Classe', 'livre', 'Livre'],
  ],
  dateCues: ['le', 'du', 'au', "jusqu'au"],
  abbreviations: [
    ['et/ou(?!\\p{L})', 'et ou'],
    ['~(?=\\d)', 'environ'],
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
  weekdays: weekdays(),
  labels: ['numéro', 'n°', 'code(?: postal)?', 'commande', 'dossier', 'compte', 'PIN'],
  dialed: '(?<=(?:[Cc]omposez le|[Aa]ppelez le|appeler le)\\s)(?:911)',
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

function weekdays(): Readonly<Record<string, string>> {
  const names = 'lundi mardi mercredi jeudi vendredi samedi dimanche'.split(' ');
  const forms = names.flatMap((name) => {
    const capital = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return [name, name.slice(0, 3), capital, capital.slice(0, 3)].map((form) => [form, name]);
  });
  return Object.fromEntries(forms);
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
      pattern: /(?<![\p{L}\p{N}.,:/-])24\s?h\/24(?![\p{L}\p{N}])/gu,
      say: () => 'vingt-quatre heures sur vingt-quatre',
    },
    {
      pattern: /(?<![\p{L}\p{N}.,:/-])7\s?j\/7(?![\p{L}\p{N}])/gu,
      say: () => 'sept jours sur sept',
    },
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

const ONES = (
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize ' +
  'dix-sept dix-huit dix-neuf'
).split(' ');

const TENS =
  '- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt'.split(' ');

/** @param one `un`, or `une` before a feminine noun. */
function frenchCardinal(number: number, one: 'un' | 'une' = 'un'): string {
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

function frenchOrdinal(number: number, ending: 'er' | 'ère' | 'e'): string {
  if (number === 1) return ending === 'ère' ? 'première' : 'premier';
  return frenchCardinal(number).replace(/\p{L}+$/u, (last) => {
    if (last === 'cinq') return 'cinquième';
    if (last === 'neuf') return 'neuvième';
    return `${last.replace(/(?:e|(?<=vingt|cent)s)$/, '')}ième`;
  });
}

/** @param isLast whether the number ends here, so that `vingts` and `cents` have their s. */
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
