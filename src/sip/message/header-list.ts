/** Header values that hold several, separated by commas; pure */
import { endOfQuoted } from './char-class.ts';

/**
 * Splits at the commas that stand outside quotes and angle brackets, and trims each part.
 *
 * A part between two commas may be empty; a text of nothing but space gives no part at all.
 * A quote that is never closed takes the rest of the text.
 */
export function splitList(text: string): string[] {
  if (!text.includes(',')) {
    const only = text.trim();
    return only === '' ? [] : [only];
  }
  const parts: string[] = [];
  let start = 0;
  for (let comma = nextComma(text, 0); comma < text.length; comma = nextComma(text, comma + 1)) {
    parts.push(text.slice(start, comma).trim());
    start = comma + 1;
  }
  parts.push(text.slice(start).trim());
  return parts;
}

/** The next separating comma at or after `start`, where no quote and no bracket is open. */
function nextComma(text: string, start: number): number {
  let isInBrackets = false;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22 && !isInBrackets) {
      const end = endOfQuoted(text, i);
      if (end === -1) return text.length;
      i = end - 1;
    } else if (code === 0x3c) isInBrackets = true;
    else if (code === 0x3e) isInBrackets = false;
    else if (code === 0x2c && !isInBrackets) return i;
  }
  return text.length;
}
