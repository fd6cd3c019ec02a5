/** Header names: the short forms, and how the long ones are written; pure */

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
