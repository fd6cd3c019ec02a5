/** Roman numerals behind the nouns that they number: `Chapter IV`, `type II`; pure */
import type { LanguagePack, Rule } from './language-pack.ts';

/** Roman numerals from 1 to 39. */
const NUMERAL = /^(X{0,3})(IX|IV|V?I{0,3})$/;

const ONES: Readonly<Record<string, number>> = {
  ...{ '': 0, I: 1, II: 2, III: 3, IV: 4, V: 5, VI: 6, VII: 7, VIII: 8, IX: 9 },
};

/** The rule for Roman numerals. */
export function romanRule({ numbered, cardinal }: LanguagePack): Rule {
  return {
    pattern: new RegExp(
      `(?<=(?<![\\p{L}\\p{N}])(?:${numbered.join('|')})\\s)([IVX]{1,7})(?![\\p{L}\\p{N}])`,
      'gu',
    ),
    say: ({ parts: [, numeral = ''] }) => {
      const number = numberOf(numeral);
      return number === undefined ? null : cardinal(number);
    },
  };
}

function numberOf(numeral: string): number | undefined {
  const [, tens = '', ones = ''] = NUMERAL.exec(numeral) ?? [];
  const value = tens.length * 10 + (ONES[ones] ?? 0);
  return value === 0 ? undefined : value;
}
