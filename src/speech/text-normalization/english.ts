/** English, American and British: spoken forms of numbers, dates, symbols and abbreviations; pure */
import {
  ENGLISH_ABBREVIATIONS,
  ENGLISH_CURRENCIES,
  ENGLISH_FRACTIONS,
  ENGLISH_LABELS,
  ENGLISH_MAGNITUDES,
  ENGLISH_NUMBERED,
  ENGLISH_SPELT,
  englishUnits,
  englishWeekdays,
} from './english-vocabulary.ts';
import type { CalendarDay, ClockTime, LanguagePack, Rule } from './language-pack.ts';
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
    currencies: ENGLISH_CURRENCIES,
    moneyJoin: { text: ' and ', namesCents: true },
    magnitudes: ENGLISH_MAGNITUDES,
    units: englishUnits(isBritish),
    fractions: ENGLISH_FRACTIONS,
    abbreviations: ENGLISH_ABBREVIATIONS,
    spelt: ENGLISH_SPELT,
    weekdays: englishWeekdays(),
    labels: ENGLISH_LABELS,
    dialed: '(?<=(?:[Cc]all|[Dd]ial|[Rr]ing|[Tt]ext)\\s)(?:911|999|112|988|[2-8]11)',
    numbered: ENGLISH_NUMBERED,
    dateCues: ['on', 'until', 'since', 'dated', 'due', 'by'],
    perWords: [
      'month',
      'mo',
      'year',
      'yr',
      'week',
      'day',
      'night',
      'hour',
      'hr',
      'minute',
      'person',
    ],
    cardinal,
    year: (year) => englishYear(year, isBritish),
    date: (day) => dateWords(day, isBritish),
    time: (time) => timeWords(time, isBritish),
    digitGroup: (group) => [...group].map((digit) => digits[Number(digit)] ?? digit).join(' '),
  };
  return { ...pack, rules: rules(isBritish) };
}

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
  const sayDay = (day: string, month: string, year: string | undefined) => {
    const date = { day: Number(day), month: monthNumber(month) };
    if (date.day < 1 || date.day > 31) return null;
    return dateWords(year === undefined ? date : { ...date, year: Number(year) }, isBritish);
  };
  const yearPart = '(?:,?\\s(\\d{4})(?!\\p{N}))?';
  return [
    ...spanRules(isBritish),
    {
      pattern: new RegExp(
        `(?<!\\p{L})${MONTH}\\s(\\d{1,2})(?:st|nd|rd|th)?(?![\\p{N}\\p{L}:]|[.,]\\p{N})${yearPart}`,
        'gu',
      ),
      say: ({ parts: [, month = '', day = '', year] }) => sayDay(day, month, year),
    },
    {
      pattern: new RegExp(
        `${START}(the\\s)?(\\d{1,2})(?:st|nd|rd|th)?(?:\\sof)?\\s${MONTH}(?!\\p{L})${yearPart}`,
        'gu',
      ),
      say: ({ parts: [, , day = '', month = '', year] }) => {
        const number = Number(day);
        if (number < 1 || number > 31) return null;
        return dateWords(
          {
            day: number,
            month: monthNumber(month),
            ...(year === undefined ? {} : { year: Number(year) }),
          },
          true,
        );
      },
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

/** `May 3-5` and `1h 30m` */
function spanRules(isBritish: boolean): readonly Rule[] {
  return [
    {
      pattern: new RegExp(
        `(?<!\\p{L})${MONTH}\\s(\\d{1,2})\\s?[-–]\\s?(\\d{1,2})(?![\\p{N}\\p{L}:/-])`,
        'gu',
      ),
      say: ({ parts: [, month = '', from = '', to = ''] }) => {
        const [first, last] = [Number(from), Number(to)];
        if (first < 1 || first > 31 || last < 1 || last > 31) return null;
        const start = dateWords({ day: first, month: monthNumber(month) }, isBritish);
        return `${start} to ${englishOrdinal(last, isBritish)}`;
      },
    },
    {
      pattern: new RegExp(
        `${START}(\\d{1,2})\\s?h\\s?(\\d{1,2})\\s?m(?:in)?(?![\\p{L}\\p{N}])`,
        'gu',
      ),
      say: ({ parts: [, hours = '', minutes = ''] }) =>
        [count(hours, 'hour', isBritish), count(minutes, 'minute', isBritish)].join(' '),
    },
  ];
}

function count(number: string, name: string, isBritish: boolean): string {
  return `${englishCardinal(Number(number), isBritish)} ${name}${Number(number) === 1 ? '' : 's'}`;
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
      // ext. 42, Extension x42, 555-0132 x42
      pattern: new RegExp(
        `(?:(?<!\\p{L})[Ee]xt(?:ension|\\.)?\\s?x?|(?<=\\d{4},?\\s?|(?:at|call|dial)\\s)x\\.?\\s?)(\\d{1,6})${END}`,
        'gu',
      ),
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
