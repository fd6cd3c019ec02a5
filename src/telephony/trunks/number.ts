/** Telephone numbers in SIP headers, normalised to E.164 where that is unambiguous; pure */

const E164 = /^\+[1-9]\d{6,14}$/;
/** Quoted text. One without an end reaches to the end of the header: so each character is read once. */
const QUOTED = /"(?:\\.|[^"\\])*("|\\?$)/gs;

const VISUAL_SEPARATORS = /[-.() ]/g;

/**
 * The number in a header such as From, To or P-Asserted-Identity; of several addresses, the first.
 *
 * @param header `"Bob" <sip:+390612345678@carrier.example>;tag=1`, or a bare address.
 * @returns as `numberOfUri`.
 */
export function numberOfHeader(header: string): string {
  const withoutName = withoutQuotedText(header);
  const open = withoutName.indexOf('<');
  if (open < 0) return numberOfUri(withoutName.split(/[;,]/, 1)[0] ?? '');
  const close = withoutName.indexOf('>', open);
  return numberOfUri(withoutName.slice(open + 1, close < 0 ? undefined : close));
}

/** A header without its quoted text, such as display names, which may look like an address; what has no end quote stays. */
export function withoutQuotedText(header: string): string {
  return header.replace(QUOTED, (quoted, end) => (end === '"' ? '' : quoted));
}

/**
 * Number of a sip, sips or tel URI.
 *
 * @returns E.164 for `+`, `00` or a global phone-context; otherwise the user part as received, such as `anonymous` or
 * a national number of unknown country.
 * @see RFC 3261 section 19.1.1, RFC 3966 section 5
 */
export function numberOfUri(uri: string): string {
  const [, scheme = '', rest = ''] = /^\s*(sips?|tel):(.*?)\s*$/is.exec(uri) ?? [];
  if (scheme === '') return '';
  const isTel = scheme.toLowerCase() === 'tel';
  const at = rest.lastIndexOf('@');
  if (!isTel && at < 0) return '';

  const [user = '', ...params] = (isTel ? rest : rest.slice(0, at)).split(';');
  const plain = decode(isTel ? user : (user.split(':', 1)[0] ?? ''));
  return toE164(plain, phoneContextOf(params)) ?? plain;
}

/** Whether the text is a whole E.164 number. */
export function isE164(text: string): boolean {
  return E164.test(text);
}

/** Whether the text can be dialled as it is: a number or a short code, with nothing that SIP would read otherwise. */
export function isDialable(text: string): boolean {
  return /^\+?[0-9*#]{1,32}$/.test(text);
}

/** Certain cases only: a wrong country would route a call, or a transfer, to a stranger. */
function toE164(text: string, phoneContext: string): string | undefined {
  const digits = text.replace(VISUAL_SEPARATORS, '');
  if (!/^\+?\d+$/.test(digits)) return undefined;
  const candidate = digits.startsWith('00') ? `+${digits.slice(2)}` : digits;
  const whole = candidate.startsWith('+') ? candidate : phoneContext + candidate;
  return E164.test(whole) ? whole : undefined;
}

function phoneContextOf(params: readonly string[]): string {
  const [, context = ''] =
    params.map((param) => /^phone-context=(\+\d+)$/i.exec(param)).find((found) => found) ?? [];
  return context;
}

function decode(user: string): string {
  try {
    return decodeURIComponent(user);
  } catch {
    // Not an escape sequence: the text is used as received.
    return user;
  }
}
