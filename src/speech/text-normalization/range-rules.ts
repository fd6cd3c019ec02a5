/** Ranges of times, amounts, measures and weekdays: the dash is said as a word, and each side by the other rules; pure */
import type { LanguagePack, Rule } from './language-pack.ts';
import { alternatives } from './quantity-rules.ts';
import { readOut } from './replacements.ts';

const DASH = '\\s?[-–—]\\s?';

/** `a.m.` and `pm` */
const HALF = '[AaPp](?:\\.\\s?[Mm]\\.?|[Mm])';

interface Side {
  /** Currency before the number; empty for none. */
  readonly sign: string;
  readonly number: string;
  /** Unit, currency, `pm` or `Uhr`; empty for none. */
  readonly suffix: string;
}

/** Rules for ranges. @param rules of the language, for the two sides of a range. */
export function rangeRules(pack: LanguagePack, rules: readonly Rule[]): readonly Rule[] {
  return [...weekdayRules(pack), measureRule(pack, rules)];
}

/** `Mon-Fri`, `Monday–Friday`, and `Sat 9-12` */
function weekdayRules({ weekdays, words }: LanguagePack): readonly Rule[] {
  const day = `(${alternatives(Object.keys(weekdays))})`;
  const before = '(?<![\\p{L}\\p{N}])';
  return [
    {
      pattern: new RegExp(`${before}${day}\\.?${DASH}${day}(?![\\p{L}-])\\.?`, 'gu'),
      say: ({ parts: [, from = '', to = ''] }) => `${weekdays[from]} ${words.to} ${weekdays[to]}`,
    },
    {
      // Followed by a time: some abbreviations are words, as `Sun` and German `So`.
      pattern: new RegExp(
        `${before}${day}\\.?(?=:?\\s\\d{1,2}(?:[:h–-]|\\.\\d{2}|\\s?(?:Uhr|${HALF}))(?!\\p{L}))`,
        'gu',
      ),
      say: ({ parts: [, name = ''] }) => weekdays[name] ?? null,
    },
  ];
}

/** `9:00-17:30`, `9am–5pm`, `$5-10`, `5%–10%`, `50-100 €`; plain numbers are left to their own rule. */
function measureRule(pack: LanguagePack, rules: readonly Rule[]): Rule {
  const signs = alternatives(Object.keys(pack.currencies));
  const units = alternatives([...Object.keys(pack.currencies), ...Object.keys(pack.units), '%']);
  const sizes = alternatives(Object.keys(pack.magnitudes));
  const number = "\\d{1,9}(?:[.,:'’]\\d{1,3}){0,3}";
  const suffix = `\\s?(?:(?:${sizes})\\s)?(?:${units}|${HALF}|Uhr|h(?:\\s?\\d{2})?|${sizes})(?![\\p{L}\\p{N}²³])`;
  const side = `(?:(${signs})\\s?)?(${number})(${suffix})?`;
  return {
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}\\p{Sc}.,:/–−-])${side}(${DASH})${side}(?![\\p{L}\\p{N}]|[-–/:.,]\\p{N})`,
      'gu',
    ),
    say: ({
      parts: [, sign1 = '', from = '', suffix1 = '', dash = '', sign2 = '', to = '', suffix2 = ''],
    }) => {
      const [start, end] = [
        { sign: sign1, number: from, suffix: suffix1 },
        { sign: sign2, number: to, suffix: suffix2 },
      ];
      const isSpaced = dash.length > 1;
      // With blanks around it a dash may also stand between a name and its price: `Room 12 - $90`.
      const isRange = isSpaced
        ? isMarked(start) && isMarked(end)
        : isMarked(start) || isMarked(end);
      if (!isRange) return null;
      const isSize = Object.hasOwn(pack.magnitudes, end.suffix.trim());
      const sides = sharing(start, end, isSize).map((text) => readOut(text, rules));
      return sides.join(` ${pack.words.to} `);
    },
  };
}

function isMarked({ sign, number, suffix }: Side): boolean {
  return sign !== '' || suffix !== '' || /^(?:\d{1,2}:|0\d\.)\d{2}$/.test(number);
}

/**
 * Both sides as written, but a unit that both have, or that only the first one has, is said once, at the end.
 *
 * @param isSize whether the end has no unit but a size, such as `million`, which is then the start's too.
 */
function sharing(start: Side, end: Side, isSize: boolean): readonly [string, string] {
  const isWhole = /^\d+$/.test(start.number);
  if (end.suffix.trim() === 'Uhr' && !isWhole) {
    // `08.00` alone is no time.
    return [start.number.replace('.', ':'), `${end.number} Uhr`];
  }
  const hasUnit = end.suffix.trim() !== '' && !isSize;
  const sign = end.sign === '' && !hasUnit ? start.sign : end.sign;
  const isShared =
    isWhole &&
    start.sign === sign &&
    (start.suffix.trim() === end.suffix.trim() || (isSize && start.suffix === '')) &&
    !isClock(end);
  const first = isShared ? start.number : `${start.sign}${start.number}${start.suffix}`;
  return [first, `${sign}${end.number}${end.suffix}`];
}

function isClock({ suffix }: Side): boolean {
  return new RegExp(`^\\s?(?:${HALF}|h(?:\\s?\\d{2})?)$`).test(suffix);
}
