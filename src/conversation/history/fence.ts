/** Fences around untrusted text in prompts, which the text cannot leave (prompt injection); pure */

/** Stands alone on the lines before and after the text. */
export const FENCE = '#####';

/** A text on one line, so that it cannot imitate the other party or write a fence. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(/#{3,}/g, '#')
    .trim();
}
