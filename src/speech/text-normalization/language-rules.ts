/** All rules of a language, in the order in which they are tried; pure */
import { languageOf } from '../../lib/language-tag.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import { type LanguagePack, type Rule, sayDay } from './language-pack.ts';
import { digitWords, quantityRules, rowOfDigits } from './quantity-rules.ts';
import { spanish } from './spanish.ts';

/** English outside of these is read as in Britain. */
const AMERICAN = ['en', 'en-us', 'en-ca', 'en-ph'];

const cache = new Map<string, readonly Rule[]>();

/** None for languages that are left to the engine. @param language BCP 47. */
export function languageRules(language: string): readonly Rule[] {
  const tag = language.toLowerCase().replace('_', '-');
  const name = tag.startsWith('en') && !AMERICAN.includes(tag) ? 'en-gb' : languageOf(tag);
  const known = cache.get(name);
  if (known !== undefined) return known;
  const pack = packFor(name);
  if (pack === undefined) return [];
  const rules = rulesOf(pack);
  cache.set(name, rules);
  return rules;
}

function rulesOf(pack: LanguagePack): readonly Rule[] {
  return [
    ...addressRules(pack).slice(0, 2),
    ...pack.rules,
    ...dateRules(pack),
    ...addressRules(pack).slice(2),
    ...quantityRules(pack),
    ...abbreviationRules(pack),
    acronymRule(pack),
    ...signRules(pack),
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
    case 'es':
      return spanish;
    case 'fr':
      return french;
    default:
      return undefined;
  }
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

/** Dates in figures, and times of day */
function dateRules(pack: LanguagePack): readonly Rule[] {
  const mark = pack.dateOrder === 'mdy' ? '/' : './-';
  return [
    {
      // ISO 8601, with or without the time, which is then a rule of its own.
      pattern: /(?<![\p{L}\p{N}-])(\d{4})-(\d{2})-(\d{2})(?=T\d|(?![\p{L}\p{N}-]))/gu,
      say: (found) => {
        const [, year = '', month = '', day = ''] = found.parts;
        return sayDay([day, Number(month), year], (date) => pack.date(date, found));
      },
    },
    {
      pattern: new RegExp(
        `(?<![\\p{L}\\p{N}./-])(\\d{1,2})([${mark}])(\\d{1,2})\\2(\\d{4}|\\d{2})(?![\\p{L}\\p{N}]|[./-]\\p{N})`,
        'gu',
      ),
      say: (found) => {
        const [, first = '', , second = '', year = ''] = found.parts;
        const [day, month] = isMonthFirst([first, second], pack)
          ? [second, first]
          : [first, second];
        return sayDay([day, Number(month), fullYear(year)], (date) => pack.date(date, found));
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

/** Two figures mean this century up to 50. */
function fullYear(year: string): string {
  if (year.length === 4) return year;
  return `${Number(year) <= 50 ? 20 : 19}${year}`;
}

/** By the language's habit, and the other way round where only that is a day. */
function isMonthFirst(
  [first, second]: readonly [string, string],
  { dateOrder }: LanguagePack,
): boolean {
  return Number(first) <= 12 && (dateOrder === 'mdy' || Number(second) > 12);
}

/** Without a scheme or `www`, only names that end in one of these are taken for web addresses. */
const TOP_DOMAINS =
  'com|org|net|info|io|ai|app|dev|edu|gov|eu|uk|us|ca|au|ie|de|at|ch|es|mx|ar|fr|be|it|pt|br|nl|example';

/** E-mail addresses, web addresses and telephone numbers */
function addressRules(pack: LanguagePack): readonly Rule[] {
  return [emailRule(pack), webRule(pack), ...phoneRules(pack)];
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

function phoneRules(pack: LanguagePack): readonly Rule[] {
  const say: Rule['say'] = ({ parts: [text = ''] }) => phoneWords(text, pack);
  const before = '(?<![\\p{L}\\p{N}]|\\p{N}[.,:/-])';
  const after = '(?![\\p{L}\\p{N}]|[-:/]\\p{N})';
  return [
    // International: +44 20 7946 0000, +1 (415) 555-0132.
    `${before}\\+\\d(?:[ ().\\/\\u00a0\\u202f-]{0,2}\\d){6,17}${after}`,
    // With an area code that begins with zero: 030 123456, (0221) 4567-89, 01 42 68 53 00.
    `${before}\\(?0\\d(?:[ ().\\/\\u00a0\\u202f-]{0,2}\\d){5,12}${after}`,
    // North American: (415) 555-0132, 415.555.0132, 555-0132.
    `${before}(?:\\(\\d{3}\\) ?|\\d{3}[-. ])?\\d{3}-\\d{4}${after}`,
    `${before}\\d{3}[. ]\\d{3}[. ]\\d{4}${after}`,
    // Nine digits by threes or by a three and pairs, as in Spain: 912 345 678, 912 34 56 78.
    `${before}[6-9]\\d{2}(?:[ -]\\d{3}){2}${after}`,
    `${before}[6-9]\\d{2}(?:[ -]\\d{2}){3}${after}`,
  ].map((pattern) => ({ pattern: new RegExp(pattern, 'gu'), say }));
}

function phoneWords(text: string, pack: LanguagePack): string {
  const groups = text.match(/\d{1,20}/g) ?? [];
  const words = groups.map((group) =>
    group.length > 4
      ? rowOfDigits(group, pack)
      : (pack.digitGroup?.(group) ?? digitWords(group, pack)),
  );
  return `${text.startsWith('+') ? `${pack.words.plus} ` : ''}${words.join(', ')}`;
}
