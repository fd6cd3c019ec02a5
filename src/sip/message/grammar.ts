/** Lexical rules of SIP: tokens, parameters, quoted strings, comma-separated lists; pure */
import { SipError } from './status.ts';

/** Characters of a token, for use inside a class. @see RFC 3261 section 25.1, token */
export const TOKEN = "\\w\\-.!%*+`'~";

const WHOLE_TOKEN = new RegExp(`^[${TOKEN}]+$`);

/** Whether the text is a token. */
export function isToken(text: string): boolean {
  return WHOLE_TOKEN.test(text);
}

/**
 * Reads a number written in decimal digits alone.
 *
 * @returns undefined when it is not one, or is greater than `max`.
 */
export function parseDecimal(text: string, max: number): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return value > max ? undefined : value;
}

/**
 * Parameters by lower-case name, in wire order.
 *
 * A value is wire text, quotes included; null for a name without a value.
 */
export type Params = ReadonlyMap<string, string | null>;

/** Parameters of most addresses: none. */
export const NO_PARAMS: Params = new Map();

/** A quoted string. @see RFC 3261 section 25.1, quoted-string */
export const QUOTED = '"(?:[^"\\\\]|\\\\[\\s\\S])*"';

/**
 * One parameter. An unquoted value has every visible character but `",;<>`, which is more than the grammar's tokens: peers
 * write `@` in branches and bare IPv6 addresses in `received`. Both are unambiguous.
 */
const PARAM = new RegExp(
  `[ \\t]*;[ \\t]*([${TOKEN}]+)[ \\t]*(?:=[ \\t]*(${QUOTED}|[!#-+\\--:=?-~\\x80-\\xff]+))?`,
  'y',
);

/**
 * Parses `;name=value;name;name="quoted"`.
 *
 * @throws {SipError} 400 for any other text, or a repeated name.
 * @see RFC 3261 section 25.1, generic-param, and section 7.3.1
 */
export function parseParams(text: string): Params {
  const end = endOfSpaced(text);
  if (end === 0) return NO_PARAMS;
  const params = new Map<string, string | null>();
  for (PARAM.lastIndex = 0; PARAM.lastIndex < end; ) {
    const [, name, value = null] = PARAM.exec(text) ?? [];
    if (name === undefined || params.has(name.toLowerCase())) {
      throw new SipError(400, 'Bad Parameter');
    }
    params.set(name.toLowerCase(), value);
  }
  return params;
}

/** Writes the parameters back, each with its semicolon. */
export function formatParams(params: Params): string {
  let text = '';
  for (const [name, value] of params) text += value === null ? `;${name}` : `;${name}=${value}`;
  return text;
}

/** The text inside a quoted value, escapes undone; any other value as it is. */
export function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\([\s\S])/g, '$1') : value;
}

/** The text as a quoted string. */
export function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Spaces and tabs alone are trimmed: `trim` would take line breaks too, and octets of UTF-8. */
export function trimmed(text: string): string {
  let start = 0;
  while (isSpace(text[start])) start++;
  return text.slice(start, Math.max(start, endOfSpaced(text)));
}

function endOfSpaced(text: string): number {
  let end = text.length;
  while (end > 0 && isSpace(text[end - 1])) end--;
  return end;
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Text up to a comma outside quotes and angle brackets. An unterminated quote extends to the end of the text. */
const ITEM = /(?:"(?:\\[\s\S]?|[^"\\])*(?:"|$)|<[^>]*(?:>|$)|[^",<]+)*/y;

/**
 * Splits a header value at the commas outside quotes and angle brackets, and trims each part.
 *
 * A part between two commas may be empty; blank text gives no part.
 */
export function splitList(text: string): string[] {
  if (text.trim() === '') return [];
  if (!text.includes(',')) return [text.trim()];
  const parts: string[] = [];
  for (let start = 0; start <= text.length; ) {
    ITEM.lastIndex = start;
    const [part = ''] = ITEM.exec(text) ?? [];
    parts.push(part.trim());
    start += part.length + 1;
  }
  return parts;
}

/** @see RFC 3261 section 7.3.3 and the IANA registry of SIP header fields */
const LONG_NAMES: ReadonlyMap<string, string> = new Map([
  ['a', 'accept-contact'],
  ['b', 'referred-by'],
  ['c', 'content-type'],
  ['d', 'request-disposition'],
  ['e', 'content-encoding'],
  ['f', 'from'],
  ['i', 'call-id'],
  ['j', 'reject-contact'],
  ['k', 'supported'],
  ['l', 'content-length'],
  ['m', 'contact'],
  ['o', 'event'],
  ['r', 'refer-to'],
  ['s', 'subject'],
  ['t', 'to'],
  ['u', 'allow-events'],
  ['v', 'via'],
  ['x', 'session-expires'],
  ['y', 'identity'],
]);

/** Names whose wire form is not simply capitalised words. */
const WRITTEN_NAMES: ReadonlyMap<string, string> = new Map([
  ['call-id', 'Call-ID'],
  ['cseq', 'CSeq'],
  ['mime-version', 'MIME-Version'],
  ['min-se', 'Min-SE'],
  ['rack', 'RAck'],
  ['rseq', 'RSeq'],
  ['sip-etag', 'SIP-ETag'],
  ['sip-if-match', 'SIP-If-Match'],
  ['www-authenticate', 'WWW-Authenticate'],
]);

/** Canonical name of a header: the long form in lower case. */
export function canonicalName(name: string): string {
  const lower = name.toLowerCase();
  return LONG_NAMES.get(lower) ?? lower;
}

/**
 * Wire form of a header name.
 *
 * @throws {TypeError} for a line break, or a character that is not an octet.
 */
export function wireName(name: string): string {
  if (!isWireText(name)) {
    throw new TypeError('Cannot write SIP header: name holds a line break or wide text');
  }
  const known = WRITTEN_NAMES.get(name);
  return known ?? name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Whether the text is free of line breaks and consists of octets. */
export function isWireText(text: string): boolean {
  return !/[\r\n\u0100-\uffff]/.test(text);
}
