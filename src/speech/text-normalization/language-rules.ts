/** All rules of a language, in the order in which they are tried; pure */
import { languageOf } from '../../lib/language-tag.ts';
import { digitRules } from './digit-rules.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import type { CalendarDay, LanguagePack, Rule } from './language-pack.ts';
import { quantityRules, rowOfDigits } from './quantity-rules.ts';
import { rangeRules } from './range-rules.ts';
import { romanRule } from './roman-numerals.ts';
import { spanish } from './spanish.ts';

/** English outside of these is read as in Britain. */
const AMERICAN = ['en', 'en-us', 'en-ca', 'en-ph'];

/** Spanish with `1,234.50` for `1.234,50`. @see Unicode CLDR, numbers of `es-419` and of its regions */
const POINT_FOR_DECIMALS =
  'es-mx es-us es-419 es-gt es-hn es-sv es-ni es-pa es-do es-pr es-pe es-cu'.split(' ');

/** Where `$` is the peso. */
const PESO_REGIONS = 'es-mx es-ar es-cl es-co es-uy es-do es-cu'.split(' ');

const cache = new Map<string, readonly Rule[]>();

/** Rules of a language; none for languages that are left to the engine. @param language BCP 47. */
export function languageRules(language: string): readonly Rule[] {
  const tag = language.toLowerCase().replace('_', '-');
  const name = packName(tag);
  const known = cache.get(name);
  if (known !== undefined) return known;
  const pack = packFor(name);
  if (pack === undefined) return [];
  const rules = rulesOf(pack);
  cache.set(name, rules);
  return rules;
}

/** @param tag in lower case. */
function packName(tag: string): string {
  if (languageOf(tag) === 'en') return AMERICAN.includes(tag) ? 'en' : 'en-gb';
  const hasPoint = POINT_FOR_DECIMALS.includes(tag);
  if (languageOf(tag) !== 'es') return languageOf(tag);
  const money = PESO_REGIONS.includes(tag) ? 'peso' : 'dollar';
  return `es-${money}-${hasPoint ? 'point' : 'comma'}`;
}

function rulesOf(pack: LanguagePack): readonly Rule[] {
  const inner = [...pack.rules, ...dateRules(pack), ...quantityRules(pack)];
  return [
    ...addressRules(pack),
    timestampRule(pack),
    ...rangeRules(pack, inner),
    ...pack.rules,
    ...dateRules(pack),
    ...digitRules(pack),
    romanRule(pack),
    ...quantityRules(pack),
    ...wordRules(pack),
  ];
}

function packFor(name: string): LanguagePack | undefined {
  switch (name) {
    case 'en':
      return english(false);
    case 'en-gb':
      return english(true);
    case 'de':
      return german;
    case 'es-dollar-comma':
      return spanish();
    case 'es-dollar-point':
      return spanish({ hasDecimalPoint: true });
    case 'es-peso-comma':
      return spanish({ hasPesos: true });
    case 'es-peso-point':
      return spanish({ hasPesos: true, hasDecimalPoint: true });
    case 'fr':
      return french;
    default:
      return undefined;
  }
}

/** Abbreviations, acronyms and lone signs */
function wordRules(pack: LanguagePack): readonly Rule[] {
  return [...abbreviationRules(pack), acronymRule(pack), ...signRules(pack)];
}

function abbreviationRules({ abbreviations }: LanguagePack): readonly Rule[] {
  return abbreviations.map(([written, words]) => ({
    pattern: new RegExp(`(?<![\\p{L}\\p{N}.@/-])${written}`, 'gu'),
    say: ({ parts: [match = ''], after }) => {
      // The point of the last word is the sentence's too.
      const isEnd = match.endsWith('.') && (after === '' || /^\s+\p{Lu}/u.test(after));
      return isEnd && !/^(?:\s+\p{Lu})/u.test(after) ? `${words}.` : words;
    },
  }));
}

/** `FBI` letter by letter; `NASA` is left to the voice, and so is a text all in capitals. */
function acronymRule({ spelt, words }: LanguagePack): Rule {
  const known = new Set(spelt);
  return {
    pattern: /(?<![\p{L}\p{N}&.])([A-Z]{2,5})(s?)(?![\p{L}\p{N}&])/gu,
    say: ({ parts: [, letters = '', plural = ''], before, after }) => {
      const isShouting = !/\p{Ll}/u.test(before + after);
      const isRoman = /^[IVX]+$/.test(letters);
      if (isRoman || (isShouting && !known.has(letters) && before + after !== '')) return null;
      if (/[AEIOUY]/.test(letters) && !known.has(letters)) return null;
      return `${[...letters].join(' ')}${plural === '' ? '' : `'${plural}`}`.replace(
        ' & ',
        words.and,
      );
    },
  };
}

function signRules({ words }: LanguagePack): readonly Rule[] {
  const lone = (sign: string, say: string): Rule => ({
    pattern: new RegExp(`(?<=\\s|^)${sign}(?=\\s|$)`, 'gu'),
    say: () => say,
  });
  // At the beginning of a line they are markup.
  const key = (sign: string, say: string): Rule => ({
    pattern: new RegExp(`(?<=\\S |\\()${sign}(?=[\\s.,;:!?)]|$)`, 'gu'),
    say: () => say,
  });
  return [
    { pattern: /&/gu, say: () => words.and },
    lone('\\+', words.plus),
    lone('=', words.equals),
    lone('@', words.at),
    key('\\*', words.star),
    key('#', words.hash),
  ];
}

/** `2026-05-06T14:30:00Z`, as programs write it. */
function timestampRule(pack: LanguagePack): Rule {
  return {
    pattern:
      /(?<![\p{L}\p{N}-])(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d(?:[.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?(?![\p{L}\p{N}])/gu,
    say: (found) => {
      const [, year, month, date, hour, minute, zone] = found.parts;
      const day = sayDay(
        { day: Number(date), month: Number(month), year: Number(year) },
        found,
        pack,
      );
      if (day === null) return null;
      const time = pack.time({ hour: Number(hour), minute: Number(minute) });
      return `${day}, ${time}${zone === 'Z' ? ' U T C' : ''}`;
    },
  };
}

/** Dates in figures, and times of day */
function dateRules(pack: LanguagePack): readonly Rule[] {
  const mark = pack.dateOrder === 'mdy' ? '/' : './-';
  return [
    dayAndMonthRule(pack),
    {
      // ISO 8601
      pattern: /(?<![\p{L}\p{N}-])(\d{4})-(\d{2})-(\d{2})(?![\p{L}\p{N}-])/gu,
      say: (found) => {
        const [, year = '', month = '', day = ''] = found.parts;
        return sayDay({ day: Number(day), month: Number(month), year: Number(year) }, found, pack);
      },
    },
    {
      pattern: new RegExp(
        `(?<![\\p{L}\\p{N}./-])(\\d{1,2})([${mark}])(\\d{1,2})\\2(\\d{4}|\\d{2})(?![\\p{L}\\p{N}]|[./-]\\p{N})`,
        'gu',
      ),
      say: (found) => {
        const [, first = '', , second = '', year = ''] = found.parts;
        const numbers = [Number(first), Number(second)] as const;
        return sayDay(inOrder(numbers, fullYear(year), pack), found, pack);
      },
    },
    {
      pattern:
        /(?<![\p{L}\p{N}.,:/-])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?:\s?([ap])(?:\.\s?m\.|m(?![\p{L}\p{N}])))?(?![\p{L}\p{N}:]|[.,]\p{N})/giu,
      say: ({ parts: [whole = '', hour = '', minute = '', half], after }) => {
        const time = { hour: Number(hour), minute: Number(minute) };
        const letter = half?.toLowerCase();
        const words = pack.time(
          letter === undefined ? time : { ...time, half: letter === 'a' ? 'am' : 'pm' },
        );
        return whole.endsWith('.') && after.trim() === '' ? `${words}.` : words;
      },
    },
  ];
}

/** Fixed pairs that are no days: all hours of the week, and the shape of a screen. */
const NO_DAYS = ['24/7', '16/9'];

/** `12/25`: a day where the numbers allow nothing else, or behind a word such as `on`; `3/4` alone is a fraction. */
function dayAndMonthRule(pack: LanguagePack): Rule {
  const cue = new RegExp(`(?:^|[^\\p{L}])(?:${pack.dateCues.join('|')})\\s$`, 'iu');
  const counted =
    /^\s?(?:["″%€$£]|(?:of|inch|inches|in|cup|cups|mile|miles|stars?|points?|Zoll)(?!\p{L}))/u;
  return {
    pattern: /(?<![\p{L}\p{N}./-])(\d{1,2})\/(\d{1,2})(?![\p{L}\p{N}%]|[./-]\p{N}|\/)/gu,
    say: (found) => {
      const [whole = '', first = '', second = ''] = found.parts;
      const [one, two] = [Number(first), Number(second)];
      if (NO_DAYS.includes(whole) || counted.test(found.after)) return null;
      const [month, date] = pack.dateOrder === 'mdy' ? [one, two] : [two, one];
      const isPlain = month <= 12 && date > 12;
      if (!isPlain && !cue.test(found.before)) return null;
      const { day, month: inYear } = inOrder([one, two], 0, pack);
      const isDay = day >= 1 && day <= 31 && inYear >= 1 && inYear <= 12;
      return isDay ? pack.date({ day, month: inYear }, found) : null;
    },
  };
}

/** Two figures mean this century up to 50. */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year);
  return Number(year) + (Number(year) <= 50 ? 2000 : 1900);
}

/** Day and month in the language's order, or the other way round where only that is a day. */
function inOrder(
  [first, second]: readonly [number, number],
  year: number,
  { dateOrder }: LanguagePack,
): CalendarDay {
  const isMonthFirst = dateOrder === 'mdy' ? first <= 12 : second > 12 && first <= 12;
  return isMonthFirst ? { day: second, month: first, year } : { day: first, month: second, year };
}

function sayDay(
  day: CalendarDay,
  found: Parameters<LanguagePack['date']>[1],
  pack: LanguagePack,
): string | null {
  const isDay = day.month >= 1 && day.month <= 12 && day.day >= 1 && day.day <= 31;
  return isDay ? pack.date(day, found) : null;
}

/** Top-level domains of names that are taken for web addresses without a scheme or `www`. */
const TOP_DOMAINS =
  'com|org|net|info|io|ai|app|dev|edu|gov|eu|uk|us|ca|au|ie|de|at|ch|es|mx|ar|fr|be|it|pt|br|nl|example';

/** E-mail and web addresses */
function addressRules(pack: LanguagePack): readonly Rule[] {
  return [emailRule(pack), webRule(pack)];
}

function emailRule(pack: LanguagePack): Rule {
  return {
    pattern:
      /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,4}/gu,
    say: ({ parts: [email = ''] }) => spelled(email, pack),
  };
}

function webRule(pack: LanguagePack): Rule {
  const host = `[\\p{L}\\p{N}-]{1,63}(?:\\.[\\p{L}\\p{N}-]{1,63}){0,4}`;
  return {
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}@./-])(?:(?:https?:\\/\\/)(?:www\\.)?(${host})|www\\.(${host})|(${host}\\.(?:${TOP_DOMAINS})))(?![\\p{L}\\p{N}@-])((?:\\/[\\p{L}\\p{N}._~%-]{1,60}){0,6})\\/?(?:[?#][^\\s]{0,300})?`,
      'giu',
    ),
    say: ({ parts: [whole = '', ...groups] }) => {
      const [first, second, third, path = ''] = groups;
      const tail = /[.,;:!?]+$/.exec(whole)?.[0] ?? '';
      const address = `${first ?? second ?? third ?? ''}${path.replace(/\.+$/, '')}`;
      return `${spelled(address, pack)}${tail}`;
    },
  };
}

/** Words as they are, digits one by one, and every sign by its name. */
function spelled(address: string, pack: LanguagePack): string {
  const { at, dot, dash, underscore, slash, plus, percent } = pack.words;
  const names: Readonly<Record<string, string>> = {
    ...{ '@': at, '.': dot, '-': dash, _: underscore, '/': slash, '+': plus, '%': percent },
  };
  return address
    .replace(/\d{1,15}/g, (digits) => ` ${rowOfDigits(digits, pack)} `)
    .replace(/[@._/+%-]/g, (sign) => ` ${names[sign]} `)
    .replace(/\s+/g, ' ')
    .trim();
}
