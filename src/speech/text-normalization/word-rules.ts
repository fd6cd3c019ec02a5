/** Abbreviations, acronyms and lone signs; pure */
import type { LanguagePack, Rule } from './language-pack.ts';

export function wordRules(pack: LanguagePack): readonly Rule[] {
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
