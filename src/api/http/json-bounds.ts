/** How deep JSON is nested and how many values it has, found without parsing it; pure */

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Brackets and braces differ in this bit alone. */
const BRACE_BIT = 0x20;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Whether lists and objects lie in each other deeper than `depthMax`. Looks no further than to where they do.
 *
 * @param text may be malformed; the parser reports that.
 */
export function isDeeperThan(text: string, depthMax: number): boolean {
  let depth = 0;
  return hasMark(text, (code) => {
    if ((code | BRACE_BIT) === CLOSING_BRACE) depth -= 1;
    else if ((code | BRACE_BIT) === OPENING_BRACE) depth += 1;
    return depth > depthMax;
  });
}

/**
 * Whether there are more commas between values than `commasMax`: the fields and list items of all objects and lists
 * together, less one for each. Looks no further than to where there are.
 *
 * @param text need not be well-formed.
 */
export function hasMoreCommasThan(text: string, commasMax: number): boolean {
  let count = 0;
  return hasMark(text, (code) => {
    if (code === COMMA) count += 1;
    return count > commasMax;
  });
}

/** Whether the test is true of some character outside of strings. */
function hasMark(text: string, test: (code: number) => boolean): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (test(code)) return true;
  }
  return false;
}

/** Where the closing quote is; the text's end when there is none. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code === BACKSLASH) index += 1;
  }
  return text.length;
}
