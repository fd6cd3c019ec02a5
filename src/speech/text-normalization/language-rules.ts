/** All rules of a language, in the order in which they are tried; pure */
import { addressRules } from './address-rules.ts';
import { dateRules } from './date-rules.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import type { LanguagePack, Rule } from './language-pack.ts';
import { quantityRules } from './quantity-rules.ts';
import { spanish } from './spanish.ts';
import { wordRules } from './word-rules.ts';

/** English outside of these is read as in Britain. */
const AMERICAN = ['en', 'en-us', 'en-ca', 'en-ph'];

const cache = new Map<string, readonly Rule[]>();

/** None for languages that are left to the engine. @param language BCP 47. */
export function languageRules(language: string): readonly Rule[] {
  const tag = language.toLowerCase().replace('_', '-');
  const name =
    tag.startsWith('en') && !AMERICAN.includes(tag) ? 'en-gb' : (tag.split('-')[0] ?? '');
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
    case 'es':
      return spanish;
    case 'fr':
      return french;
    default:
      return undefined;
  }
}
