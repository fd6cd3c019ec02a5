/** Cuts and cleans text on its way to and from the language model; pure */

/** Cuts a text, not in the middle of a character that needs two units, and shows that it was cut. */
export function cutTo(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const kept = text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept.trimEnd()}…`;
}

/** Puts a text on one line, without control characters and broken surrogates. */
export function onOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
