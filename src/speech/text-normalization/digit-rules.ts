/** Numbers that name something and count nothing, read digit by digit: telephone, card and account numbers, codes; pure */
import type { LanguagePack, Rule } from './language-pack.ts';
import { rowOfDigits } from './quantity-rules.ts';

/** Telephone numbers, and all others in groups or behind a word that announces them. */
export function digitRules(pack: LanguagePack): readonly Rule[] {
  return [
    ibanRule(pack),
    ...phoneRules(pack),
    groupsRule(pack),
    cardRule(pack),
    ...labelRules(pack),
  ];
}

const BEFORE = '(?<![\\p{L}\\p{N}]|\\p{N}[.,:/-])';
const AFTER = '(?![\\p{L}\\p{N}]|[-:/]\\p{N})';

function phoneRules(pack: LanguagePack): readonly Rule[] {
  const say: Rule['say'] = ({ parts: [text = ''] }) => groupWords(text, pack);
  return [
    // International: +44 20 7946 0000, +1 (415) 555-0132.
    `${BEFORE}\\+\\d(?:[ ().\\/\\u00a0\\u202f-]{0,2}\\d){6,17}${AFTER}`,
    // With an area code that begins with zero: 030 123456, (0221) 4567-89, 01 42 68 53 00.
    `${BEFORE}\\(?0\\d(?:[ ().\\/\\u00a0\\u202f-]{0,2}\\d){5,12}${AFTER}`,
    // North American: (415) 555-0132, 415.555.0132, 555-0132, 1-800-555-0132.
    `${BEFORE}(?:(?:1[-. ]?)?\\(\\d{3}\\) ?|(?:1[-. ])?\\d{3}[-. ])?\\d{3}-\\d{4}${AFTER}`,
    `${BEFORE}(?:1[-. ])?\\d{3}[. ]\\d{3}[. ]\\d{4}${AFTER}`,
    // Nine digits by threes or by a three and pairs, as in Spain: 912 345 678, 912 34 56 78.
    `${BEFORE}[6-9]\\d{2}(?:[ -]\\d{3}){2}${AFTER}`,
    `${BEFORE}[6-9]\\d{2}(?:[ -]\\d{2}){3}${AFTER}`,
  ].map((pattern) => ({ pattern: new RegExp(pattern, 'gu'), say }));
}

/** Groups joined by dashes, three or more: 123-45-6789. Dates are rules of their own, which come first. */
function groupsRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(`${BEFORE}\\d{1,8}(?:-\\d{1,8}){2,6}${AFTER}`, 'gu'),
    say: ({ parts: [text = ''] }) => groupWords(text, pack),
  };
}

/** A card's number in fours, or the last of them behind stars and crosses. */
function cardRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(`${BEFORE}\\d{4}(?:[ -]\\d{4}){2,3}(?:[ -]\\d{1,3})?${AFTER}`, 'gu'),
    say: ({ parts: [text = ''] }) => groupWords(text, pack),
  };
}

/** @see ISO 13616-1: country, two check digits, up to 30 letters and digits, in print by fours */
function ibanRule(pack: LanguagePack): Rule {
  return {
    pattern: /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?\d{1,3})?(?![\p{L}\p{N}])/gu,
    say: ({ parts: [text = ''] }) =>
      text
        .replace(/ /g, '')
        .match(/.{1,4}/g)
        ?.map((group) => [...group].map((sign) => pack.digits[Number(sign)] ?? sign).join(' '))
        .join(', ') ?? null,
  };
}

/** `order number 12345`, `PLZ 80331`, `dial 911` */
function labelRules(pack: LanguagePack): readonly Rule[] {
  const { labels, dialed } = pack;
  const isNamed = new RegExp(`(?:^|[^\\p{L}])(?:${labels.join('|')})[:#\\s]+\\d+$`, 'iu');
  return [
    {
      pattern: /(?<![\p{L}\p{N}.,:/-])\d{4,15}(?![\p{L}\p{N}]|[-–/:.,]\p{N}|\s?[€$£%])/gu,
      say: ({ parts: [digits = ''], before }) =>
        isNamed.test(`${before}${digits}`) ? rowOfDigits(digits, pack) : null,
    },
    {
      pattern: new RegExp(`${dialed}${AFTER}`, 'gu'),
      say: ({ parts: [digits = ''] }) => pack.digitGroup(digits),
    },
  ];
}

function groupWords(text: string, pack: LanguagePack): string {
  const groups = text.match(/\d{1,20}/g) ?? [];
  const words = groups.map((group) =>
    group.length > 4 ? rowOfDigits(group, pack) : pack.digitGroup(group),
  );
  return `${text.startsWith('+') ? `${pack.words.plus} ` : ''}${words.join(', ')}`;
}
