/** E-mail addresses, web addresses and telephone numbers; pure */
import type { LanguagePack, Rule } from './language-pack.ts';
import { rowOfDigits } from './number-text.ts';

/** Without a scheme or `www`, only names that end in one of these are taken for web addresses. */
const TOP_DOMAINS =
  'com|org|net|info|io|ai|app|dev|edu|gov|eu|uk|us|ca|au|ie|de|at|ch|es|mx|ar|fr|be|it|pt|br|nl|example';

export function addressRules(pack: LanguagePack): readonly Rule[] {
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
    group.length > 4 ? rowOfDigits(group, pack) : pack.digitGroup(group),
  );
  return `${text.startsWith('+') ? `${pack.words.plus} ` : ''}${words.join(', ')}`;
}
