/** Lexical rules of SIP: character classes, parameters, quoted strings, comma-separated lists; pure */
import { SipError } from './status.ts';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const UNRESERVED = `${ALPHANUMERIC}-_.!~*'()`;

/** Set of characters: entry `code` is 1 for a member. */
export type CharClass = Uint8Array;

/** Makes the set of exactly these characters. */
function charClass(characters: string): CharClass {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** Makes the set of everything that is neither space, nor control character, nor among these. */
function visibleBut(excluded: string): CharClass {
  return new Uint8Array(256).map((_, code) =>
    code > 0x20 && code !== 0x7f && !excluded.includes(String.fromCharCode(code)) ? 1 : 0,
  );
}

/** @see RFC 3261 section 25.1, token */
export const TOKEN = charClass(`${ALPHANUMERIC}-.!%*_+\`'~`);

/**
 * Characters of an unquoted parameter value: every visible character that does not end the value.
 *
 * More than the grammar's tokens: peers write `@` in branches and bare IPv6 addresses in `received`. Both are
 * unambiguous.
 */
export const PARAM_VALUE = visibleBut('",;<>');

/** Characters of a URI whose scheme is not parsed further: all but quotes and angle brackets. */
export const ANY_URI = visibleBut('"<>');

/** @see RFC 3261 section 25.1, hostname; with the underscore that many private networks use */
export const HOST_NAME = charClass(`${ALPHANUMERIC}-._`);

/** Characters between the brackets of an IPv6 reference. */
export const IPV6 = charClass('0123456789abcdefABCDEF:.');

/** @see RFC 3261 section 25.1, absoluteURI scheme */
export const SCHEME = charClass(`${ALPHANUMERIC}+-.`);

/**
 * Characters of a SIP user part, `%` for escapes included.
 *
 * `#` is not in the grammar, but carriers send service codes such as `*31#` unescaped and it cannot
 * be mistaken for anything else.
 *
 * @see RFC 3261 section 25.1, user
 */
export const URI_USER = charClass(`${UNRESERVED}&=+$,;?/%#`);

/** @see RFC 3261 section 25.1, password */
export const URI_PASSWORD = charClass(`${UNRESERVED}&=+$,%`);

/** @see RFC 3261 section 25.1, paramchar */
export const URI_PARAM = charClass(`${UNRESERVED}[]/:&+$%`);

/** @see RFC 3261 section 25.1, hname and hvalue */
export const URI_HEADER = charClass(`${UNRESERVED}[]/?:+$%=&`);

/** @see RFC 3966 section 3, phonedigit-hex and visual separators */
export const TEL_NUMBER = charClass('0123456789abcdefABCDEF*#+-.()');

/** Whether the text from `start` to `end` is not empty and consists of the set's characters. */
export function consistsOf(
  text: string,
  allowed: CharClass,
  start = 0,
  end: number = text.length,
): boolean {
  if (start >= end) return false;
  for (let i = start; i < end; i++) {
    if (allowed[text.charCodeAt(i)] !== 1) return false;
  }
  return true;
}

/** End of the run of the set's characters that begins at `start`. */
export function endOfRun(text: string, allowed: CharClass, start: number): number {
  let i = start;
  while (i < text.length && allowed[text.charCodeAt(i)] === 1) i++;
  return i;
}

/** The first place at or after `start` that is neither a space nor a tab. */
export function skipSpace(text: string, start: number): number {
  let i = start;
  while (i < text.length && isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Whether an octet is a space or a tab. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/**
 * End of the quoted string that opens at `start`: the index after its closing quote.
 *
 * @returns -1 for an unterminated string.
 * @see RFC 3261 section 25.1, quoted-string
 */
export function endOfQuoted(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return i + 1;
    if (code === 0x5c) i++;
  }
  return -1;
}

/**
 * Reads a number written in decimal digits alone.
 *
 * @returns undefined when it is not one, or is greater than `max`.
 */
export function parseDecimal(text: string, max: number): number | undefined {
  if (text.length === 0) return undefined;
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
    if (value > max) return undefined;
  }
  return value;
}

/**
 * Parameters by lower-case name, in wire order.
 *
 * A value is wire text, quotes included; null for a name without a value.
 */
export type Params = ReadonlyMap<string, string | null>;

/** What most addresses have. */
export const NO_PARAMS: Params = new Map();

/**
 * Parses `;name=value;name;name="quoted"` from `start` to the end of the text.
 *
 * @throws {SipError} 400 for any other text, or a repeated name.
 * @see RFC 3261 section 25.1, generic-param, and section 7.3.1
 */
export function parseParams(text: string, start = 0): Params {
  let i = skipSpace(text, start);
  if (i === text.length) return NO_PARAMS;
  const params = new Map<string, string | null>();
  while (i < text.length) {
    if (text.charCodeAt(i) !== 0x3b) throw new SipError(400, 'Bad Parameter');
    i = readParam(text, skipSpace(text, i + 1), params);
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
  if (value.charCodeAt(0) !== 0x22) return value;
  let text = '';
  for (let i = 1; i < value.length - 1; i++) {
    if (value.charCodeAt(i) === 0x5c) i++;
    text += value.charAt(i);
  }
  return text;
}

/** The text as a quoted string. */
export function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function readParam(text: string, start: number, params: Map<string, string | null>): number {
  const nameEnd = endOfRun(text, TOKEN, start);
  const name = text.slice(start, nameEnd).toLowerCase();
  if (name === '' || params.has(name)) throw new SipError(400, 'Bad Parameter');

  const i = skipSpace(text, nameEnd);
  if (text.charCodeAt(i) !== 0x3d) {
    params.set(name, null);
    return i;
  }
  const valueStart = skipSpace(text, i + 1);
  const valueEnd = endOfValue(text, valueStart);
  if (valueEnd <= valueStart) throw new SipError(400, 'Bad Parameter');
  params.set(name, text.slice(valueStart, valueEnd));
  return skipSpace(text, valueEnd);
}

function endOfValue(text: string, start: number): number {
  return text.charCodeAt(start) === 0x22
    ? endOfQuoted(text, start)
    : endOfRun(text, PARAM_VALUE, start);
}

/**
 * Splits a header value at the commas outside quotes and angle brackets, and trims each part.
 *
 * A part between two commas may be empty; blank text gives no part. An unterminated quote extends to the end of the
 * text.
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

/** Index of the next separating comma at or after `start`, outside quotes and angle brackets. */
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

/** Cache of wire forms by name; bounded, because peers may invent names. */
const written = new Map<string, string>(WRITTEN_NAMES);

/** Cache of line starts: line break, wire form, colon and space. */
const starts = new Map<string, string>();

/** Cache of canonical names by spelling; bounded likewise. */
const canonical = new Map<string, string>();
const NAMES_MAX = 512;

/** Canonical name of a header: the long form in lower case. */
export function canonicalName(name: string): string {
  const known = canonical.get(name);
  if (known !== undefined) return known;
  // A copy: a slice of a message would keep the whole message in memory as long as the cache entry.
  const spelling = Buffer.from(name).toString();
  const lower = spelling.toLowerCase();
  const long = lower.length > 1 ? lower : (LONG_NAMES.get(lower) ?? lower);
  if (canonical.size >= NAMES_MAX) canonical.clear();
  canonical.set(spelling, long);
  return long;
}

/**
 * Wire form of a header name.
 *
 * @throws {TypeError} for a line break, or a character that is not an octet.
 */
export function wireName(name: string): string {
  const known = written.get(name);
  if (known !== undefined) return known;
  if (!isWireText(name)) {
    throw new TypeError('Cannot write SIP header: name holds a line break or wide text');
  }
  const capitalised = name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  if (written.size < NAMES_MAX) written.set(name, capitalised);
  return capitalised;
}

/**
 * Start of a header line: line break, wire form of the name, colon and space.
 *
 * @throws {TypeError} as `wireName` does.
 */
export function lineStart(name: string): string {
  const known = starts.get(name);
  if (known !== undefined) return known;
  const start = ['\r\n', wireName(name), ': '].join('');
  if (starts.size < NAMES_MAX) starts.set(name, start);
  return start;
}

/** Whether the text is free of line breaks and consists of octets. */
export function isWireText(text: string): boolean {
  return !/[\r\n\u0100-\uffff]/.test(text);
}
