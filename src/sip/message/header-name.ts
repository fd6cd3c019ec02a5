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

/** Names that are not simply capitalised at each word. */
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

/** Names seen so far and how they are written; bounded, since peers may invent names. */
const written = new Map<string, string>(WRITTEN_NAMES);

/** As `written`, with what stands around a name on the wire. */
const starts = new Map<string, string>();

/** Spellings seen so far and what they stand for; bounded likewise. */
const canonical = new Map<string, string>();
const NAMES_MAX = 512;

/** The long name in lower case, by which headers are kept. */
export function canonicalName(name: string): string {
  const known = canonical.get(name);
  if (known !== undefined) return known;
  // A copy, as a name cut from a message holds on to the whole of it for as long as it is known.
  const spelling = Buffer.from(name).toString();
  const lower = spelling.toLowerCase();
  const long = lower.length > 1 ? lower : (LONG_NAMES.get(lower) ?? lower);
  if (canonical.size >= NAMES_MAX) canonical.clear();
  canonical.set(spelling, long);
  return long;
}

/**
 * The name as it goes on the wire.
 *
 * @throws {TypeError} when it holds what would change the lines around it, or a character that is no octet.
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
 * What ends the line before a header and begins its own: line break, name, colon and space.
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

/** Whether the text stays within its line, each character an octet. */
export function isWireText(text: string): boolean {
  return !/[\r\n\u0100-\uffff]/.test(text);
}
