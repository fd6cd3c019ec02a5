/** English, American and British: how it reads out what is not written in words; pure */
import {
  type CalendarDay,
  type ClockTime,
  type Counted,
  type LanguagePack,
  nounsOf,
  type Rule,
  sayDay,
} from './language-pack.ts';
import { byScales, END, START } from './quantity-rules.ts';

const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

const MONTH =
  '(January|February|March|April|May|June|July|August|September|October|November|December|Jan\\.?|Feb\\.?|Mar\\.?|Apr\\.?|Jun\\.?|Jul\\.?|Aug\\.?|Sept?\\.?|Oct\\.?|Nov\\.?|Dec\\.?)';

export function english(isBritish: boolean): LanguagePack {
  const digits = 'zero one two three four five six seven eight nine'.split(' ');
  if (isBritish) digits[0] = 'oh';
  const cardinal = (number: number) => englishCardinal(number, isBritish);
  const pack: Omit<LanguagePack, 'rules'> = {
    decimalMark: '.',
    groupMarks: ',',
    dateOrder: isBritish ? 'dmy' : 'mdy',
    digits,
    words: {
      ...{ minus: 'minus', point: 'point', percent: isBritish ? 'per cent' : 'percent' },
      ...{ and: 'and', to: 'to', at: 'at', dot: 'dot', dash: 'dash', underscore: 'underscore' },
      ...{ slash: 'slash', plus: 'plus', equals: 'equals', number: 'number', per: ' per ' },
      ...{ star: 'star', hash: isBritish ? 'hash' : 'pound' },
    },
    currencies: CURRENCIES,
    moneyJoin: { text: ' and ', namesCents: true },
    magnitudes: MAGNITUDES,
    units: englishUnits(isBritish),
    fractions: FRACTIONS,
    abbreviations: ENGLISH_ABBREVIATIONS,
    spelt: ENGLISH_SPELT,
    perWords: 'month mo year yr week day night hour hr minute person'.split(' '),
    cardinal,
    year: (year) => englishYear(year, isBritish),
    date: (day) => dateWords(day, isBritish),
    time: (time) => timeWords(time, isBritish),
  };
  return { ...pack, rules: rules(isBritish) };
}

const CURRENCIES = {
  ...money('$', 'dollar', 'dollars', 'cent', 'cents'),
  ...money('USD', 'US dollar', 'US dollars', 'cent', 'cents'),
  ...money('€', 'euro', 'euros', 'cent', 'cents'),
  ...money('EUR', 'euro', 'euros', 'cent', 'cents'),
  ...money('£', 'pound', 'pounds', 'penny', 'pence'),
  ...money('GBP', 'pound', 'pounds', 'penny', 'pence'),
  ...money('CHF', 'Swiss franc', 'Swiss francs', 'centime', 'centimes'),
  ...money('¥', 'yen', 'yen', 'sen', 'sen'),
};

function money(sign: string, one: string, many: string, cent: string, cents: string) {
  return { [sign]: { one, many, cent, cents } };
}

const MAGNITUDES = {
  ...{ k: { say: 'thousand', of: ' ' }, K: { say: 'thousand', of: ' ' } },
  ...{ thousand: { say: 'thousand', of: ' ' }, million: { say: 'million', of: ' ' } },
  ...{ M: { say: 'million', of: ' ' }, m: { say: 'million', of: ' ' } },
  ...{ billion: { say: 'billion', of: ' ' }, bn: { say: 'billion', of: ' ' } },
  B: { say: 'billion', of: ' ' },
};

const FRACTIONS = {
  ...{ '1/2': 'one half', '½': 'a half', '1/3': 'one third', '2/3': 'two thirds' },
  ...{ '1/4': 'one quarter', '¼': 'a quarter', '3/4': 'three quarters', '¾': 'three quarters' },
  '24/7': 'twenty-four seven',
};

function monthNumber(text: string): number {
  const start = text.slice(0, 3).toLowerCase();
  return MONTHS.findIndex((name) => name.toLowerCase().startsWith(start)) + 1;
}

function dateWords({ day, month, year }: CalendarDay, isBritish: boolean): string {
  const name = MONTHS[month - 1] ?? '';
  const ordinal = englishOrdinal(day, isBritish);
  const start = isBritish ? `the ${ordinal} of ${name}` : `${name} ${ordinal}`;
  return year === undefined ? start : `${start}, ${englishYear(year, isBritish)}`;
}

function timeWords({ hour, minute, half }: ClockTime, isBritish: boolean): string {
  const isAfternoon = half === undefined ? hour > 12 : half === 'pm';
  const suffix =
    half !== undefined || hour > 12 || hour === 0 ? (isAfternoon ? ' p m' : ' a m') : '';
  const shown = hour % 12 === 0 ? 12 : hour % 12;
  const hours = englishCardinal(shown, isBritish);
  if (minute === 0) return suffix === '' ? `${hours} o'clock` : `${hours}${suffix}`;
  const minutes = `${minute < 10 ? 'oh ' : ''}${englishCardinal(minute, isBritish)}`;
  return `${hours} ${minutes}${suffix}`;
}

function rules(isBritish: boolean): readonly Rule[] {
  const yearPart = '(?:,?\\s(\\d{4})(?!\\p{N}))?';
  return [
    {
      pattern: new RegExp(
        `(?<!\\p{L})${MONTH}\\s(\\d{1,2})(?:st|nd|rd|th)?(?![\\p{N}\\p{L}:]|[.,]\\p{N})${yearPart}`,
        'gu',
      ),
      say: ({ parts: [, month = '', day = '', year] }) =>
        sayDay([day, monthNumber(month), year], (date) => dateWords(date, isBritish)),
    },
    {
      pattern: new RegExp(
        `${START}(the\\s)?(\\d{1,2})(?:st|nd|rd|th)?(?:\\sof)?\\s${MONTH}(?!\\p{L})${yearPart}`,
        'gu',
      ),
      say: ({ parts: [, , day = '', month = '', year] }) =>
        sayDay([day, monthNumber(month), year], (date) => dateWords(date, true)),
    },
    {
      pattern: new RegExp(`(?<!\\p{L})${MONTH}\\s(\\d{4})(?!\\p{N})`, 'gu'),
      say: ({ parts: [, month = '', year = ''] }) =>
        `${MONTHS[monthNumber(month) - 1]} ${englishYear(Number(year), isBritish)}`,
    },
    {
      pattern:
        /(?<=(?<!\p{L})(?:in|since|from|until|by|year|early|late|before|after)\s)((?:1[1-9]|20)\d{2})(?![\p{N}\p{L}%]|[.,:/-]\p{N}|\s(?:people|percent|miles|units))/giu,
      say: ({ parts: [, year = ''] }) => englishYear(Number(year), isBritish),
    },
    {
      pattern: /(?<![\p{L}\p{N}])((?:1[1-9]|20)\d)0s(?!\p{L})/gu,
      say: ({ parts: [, decade = ''] }) => decadeWords(Number(`${decade}0`), isBritish),
    },
    {
      pattern: new RegExp(
        `${START}(1[0-2]|0?[1-9])\\s?([ap])(?:\\.\\s?m\\.|m(?![\\p{L}\\p{N}]))`,
        'giu',
      ),
      say: ({ parts: [whole = '', hour = '', half = ''], after }) => {
        const isMorning = half.toLowerCase() === 'a';
        const words = timeWords(
          { hour: Number(hour), minute: 0, half: isMorning ? 'am' : 'pm' },
          isBritish,
        );
        return whole.endsWith('.') && after.trim() === '' ? `${words}.` : words;
      },
    },
    ...numberRules(isBritish),
  ];
}

function numberRules(isBritish: boolean): readonly Rule[] {
  return [
    {
      pattern:
        /(?<![\p{L}\p{N}.,:/-])(1[0-2]|0?[1-9])\.([0-5]\d)\s?([ap])(?:\.\s?m\.|m(?![\p{L}\p{N}]))/giu,
      say: ({ parts: [, hour = '', minute = '', half = ''] }) => {
        const time = { hour: Number(hour), minute: Number(minute) };
        return timeWords({ ...time, half: half.toLowerCase() === 'a' ? 'am' : 'pm' }, isBritish);
      },
    },
    {
      pattern: new RegExp(
        `${START}(\\d{1,3}(?:,\\d{3})*|\\d{1,6})(?:st|nd|rd|th)(?!\\p{L})`,
        'giu',
      ),
      say: ({ parts: [, number = ''] }) =>
        englishOrdinal(Number(number.replace(/,/g, '')), isBritish),
    },
    {
      pattern: /(?<!\p{L})(?:[Nn]o\.|[Nn]os\.)\s?(?=\d)/gu,
      say: () => 'number ',
    },
    {
      pattern: new RegExp(`(?<!\\p{L})[Ee]xt\\.?\\s?(\\d{1,6})${END}`, 'gu'),
      say: ({ parts: [, digits = ''] }) =>
        `extension ${[...digits].map((digit) => englishCardinal(Number(digit), isBritish)).join(' ')}`,
    },
  ];
}

function decadeWords(year: number, isBritish: boolean): string {
  const words = englishYear(year, isBritish);
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : `${words}s`;
}

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
function englishCardinal(number: number, isBritish: boolean): string {
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

function englishOrdinal(number: number, isBritish: boolean): string {
  return englishCardinal(number, isBritish).replace(/[a-z]+$/, (last) => {
    const irregular = IRREGULAR[last];
    return irregular ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`);
  });
}

/** `nineteen oh five`, `two thousand six`, `twenty twenty-six`. */
function englishYear(year: number, isBritish: boolean): string {
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

function englishUnits(isBritish: boolean): Readonly<Record<string, Counted>> {
  const metre = isBritish ? 'metre' : 'meter';
  const litre = isBritish ? 'litre' : 'liter';
  return {
    ...nounsOf(
      `km kilo${metre}, m ${metre}, cm centi${metre}, mm milli${metre}, kg kilogram, g gram, mg milligram, l ${litre}, ` +
        `ml milli${litre}, mi mile, yd yard, oz ounce, lb pound, lbs pound, m² square ${metre}, ° degree, h hour, ` +
        'hr hour, hrs hour, min minute, mins minute, sec second, ms millisecond, kB kilobyte, MB megabyte, ' +
        'GB gigabyte, TB terabyte, W watt, kW kilowatt, kWh kilowatt hour',
    ),
    ...nounsOf('Hz hertz, kHz kilohertz', (one) => one),
    ...{ ft: { one: 'foot', many: 'feet' }, 'sq ft': { one: 'square foot', many: 'square feet' } },
    ...{ 'km/h': { one: `kilo${metre} per hour`, many: `kilo${metre}s per hour` } },
    ...{ mph: { one: 'mile per hour', many: 'miles per hour' } },
    ...{ '°C': { one: 'degree Celsius', many: 'degrees Celsius' } },
    ...{ '°F': { one: 'degree Fahrenheit', many: 'degrees Fahrenheit' } },
  };
}

/** Patterns and words. A street is told from a saint by what follows. */
const ENGLISH_ABBREVIATIONS: readonly (readonly [string, string])[] = [
  ['Mr\\.?(?=\\s\\p{Lu})', 'Mister'],
  ['Mrs\\.?(?=\\s\\p{Lu})', 'Missus'],
  ['Ms\\.?(?=\\s\\p{Lu})', 'Miz'],
  ['Dr\\.?(?=\\s\\p{Lu})', 'Doctor'],
  ['Prof\\.(?=\\s\\p{Lu})', 'Professor'],
  ['St\\.?(?=\\s\\p{Lu})', 'Saint'],
  ['(?<=\\p{L}\\s)St\\.', 'Street'],
  ['(?<=\\p{L}\\s)Rd\\.', 'Road'],
  ['(?<=\\p{L}\\s)Ave\\.', 'Avenue'],
  ['(?<=\\p{L}\\s)Blvd\\.', 'Boulevard'],
  ['Apt\\.', 'Apartment'],
  ['Jr\\.', 'Junior'],
  ['Sr\\.', 'Senior'],
  ['Inc\\.', 'Incorporated'],
  ['Ltd\\.', 'Limited'],
  ['Corp\\.', 'Corporation'],
  ['Dept\\.', 'Department'],
  ['e\\.\\s?g\\.', 'for example'],
  ['i\\.\\s?e\\.', 'that is'],
  ['etc\\.', 'et cetera'],
  ['vs\\.?(?=\\s)', 'versus'],
  ['approx\\.', 'approximately'],
  ['appt\\.', 'appointment'],
  ['tel\\.', 'telephone'],
  ['a\\.m\\.', 'a m'],
  ['p\\.m\\.', 'p m'],
  ['w/o(?=\\s)', 'without'],
  ['w/(?=\\s)', 'with'],
];

/** Those with a vowel that are no words; without one, all are spelt. */
const ENGLISH_SPELT: readonly string[] = (
  'USA US UK EU UN UAE API FAQ ATM ID AI IT IP URL USB CEO CIA FBI FAA FDA EPA IRS IBM HIV ETA ' +
  'RSVP MRI ER ICU AC SUV LED UPS USPS IOU EV CV HQ AA ABC IQ DIY UV VIP UI UX PO GPA NYC LA'
).split(' ');
