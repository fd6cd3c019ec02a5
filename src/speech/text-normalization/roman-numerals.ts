/** Roman numerals: of rulers (`Louis XIV`), and of what is numbered by them (`Chapter IV`); pure */
import type { LanguagePack, Rule } from './language-pack.ts';

/** From 1 to 39. */
const NUMERAL = /^(X{0,3})(IX|IV|V?I{0,3})$/;

const ONES: Readonly<Record<string, number>> = {
  ...{ '': 0, I: 1, II: 2, III: 3, IV: 4, V: 5, VI: 6, VII: 7, VIII: 8, IX: 9 },
};

/** Rules for Roman numerals. A lone `I` after a name is left: it may be the pronoun, or an initial. */
export function romanRules(pack: LanguagePack): readonly Rule[] {
  const { numbered, rulers, cardinal } = pack;
  const before = '(?<![\\p{L}\\p{N}])';
  return [
    {
      pattern: new RegExp(
        `(?<=${before}(?:${numbered.join('|')})\\s)([IVX]{1,7})(?![\\p{L}\\p{N}])`,
        'gu',
      ),
      say: ({ parts: [, numeral = ''] }) => {
        const number = numberOf(numeral);
        return number === undefined ? null : cardinal(number);
      },
    },
    {
      pattern: new RegExp(
        `(?<=${before}(${rulers.names.join('|')})\\s)([IVX]{1,7})(\\.?)(?![\\p{L}\\p{N}])`,
        'gu',
      ),
      say: (found) => {
        const [, name = '', numeral = '', point = ''] = found.parts;
        const number = numberOf(numeral);
        const isInitial = numeral.length === 1 && point !== '' && /^\s\p{Lu}/u.test(found.after);
        if (number === undefined || numeral === 'I' || isInitial) return null;
        return rulers.say({ number, name, point }, found);
      },
    },
  ];
}

function numberOf(numeral: string): number | undefined {
  const [, tens = '', ones = ''] = NUMERAL.exec(numeral) ?? [];
  const value = tens.length * 10 + (ONES[ones] ?? 0);
  return value === 0 ? undefined : value;
}
