/** Applies the rules of a language to a text: the replaced parts, and their spoken forms; pure */
import type { Rule } from './language-pack.ts';

export interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly spoken: string;
}

/** Finds the replacements, in the text's order. Later rules replace no part of an earlier match, but see its text as context. */
export function replacements(text: string, rules: readonly Rule[]): Replacement[] {
  const taken = new Uint8Array(text.length);
  const found: Replacement[] = [];
  for (const { pattern, say } of rules) {
    for (const match of text.matchAll(pattern)) {
      const from = match.index;
      const to = from + match[0].length;
      if (to === from || taken.subarray(from, to).includes(1)) continue;
      const around = {
        before: text.slice(Math.max(0, from - 80), from),
        after: text.slice(to, to + 80),
      };
      const spoken = say({ parts: match, ...around });
      if (spoken === null) continue;
      taken.fill(1, from, to);
      found.push({ from, to, spoken });
    }
  }
  return found.sort((a, b) => a.from - b.from);
}

/** Adds a space where a spoken word would join the word before it. */
export function spacedFrom(text: string, spoken: string): string {
  return /[\p{L}\p{N}]$/u.test(text) && /^[\p{L}\p{N}]/u.test(spoken) ? ` ${spoken}` : spoken;
}

/** A short text as it is read out, such as one side of a range. */
export function readOut(written: string, rules: readonly Rule[]): string {
  let text = '';
  let at = 0;
  for (const { from, to, spoken } of replacements(written, rules)) {
    text += written.slice(at, from);
    text += spacedFrom(text, spoken);
    at = to;
  }
  return text + written.slice(at);
}
