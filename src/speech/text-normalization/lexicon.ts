/** An agent's own list of how words are to be said, as a rule; pure */
import type { Pronunciation } from '../tts/pool/synthesizer.ts';
import type { Rule } from './language-pack.ts';
import { alternatives } from './quantity-rules.ts';

const rules = new WeakMap<readonly Pronunciation[], Rule>();

/**
 * Whole words only. Case matters where the written form has capitals: `us` is not `US`. Longer forms go before shorter
 * ones, so that `New York Times` is not `New York` and a word.
 */
export function lexiconRule(pronunciations: readonly Pronunciation[]): Rule {
  const known = rules.get(pronunciations);
  if (known !== undefined) return known;
  const rule = makeRule(pronunciations);
  rules.set(pronunciations, rule);
  return rule;
}

function makeRule(pronunciations: readonly Pronunciation[]): Rule {
  const exact = new Map<string, string>();
  const anyCase = new Map<string, string>();
  for (const { written, spoken } of pronunciations) {
    const hasCapitals = written !== written.toLowerCase();
    if (hasCapitals) exact.set(written, spoken);
    else anyCase.set(written, spoken);
  }
  const names = alternatives(pronunciations.map(({ written }) => written));
  return {
    pattern: new RegExp(`(?<![\\p{L}\\p{N}])(?:${names})(?![\\p{L}\\p{N}])`, 'giu'),
    say: ({ parts: [match = ''] }) => exact.get(match) ?? anyCase.get(match.toLowerCase()) ?? null,
  };
}
