/** SIP headers of calls: caller and callee of received ones, headers that the record keeps, and our own caller ID headers; pure */
import { isE164 } from '../domain/dialing/phone-number.ts';
import { domainOf, type Trunk } from './trunks/trunks.ts';

/** An INVITE, or another request that names its sender and its target so. */
interface Invite {
  readonly uri: string;
  /** First value of a header, by its name in any case. */
  get(name: string): string | undefined;
}

/**
 * Caller's number. P-Asserted-Identity, or a screened Remote-Party-ID without it, is trusted from a trunk only, and
 * ignored if the caller asks for privacy. RFC 3325, 5 and 7.
 */
export function callerOf(request: Invite, trunk: Trunk | undefined): string {
  const isSecret = /\b(id|user)\b/i.test(request.get('Privacy') ?? '');
  const asserted =
    request.get('P-Asserted-Identity') ?? screenedPartyOf(request.get('Remote-Party-ID') ?? '');
  const isTrusted = trunk !== undefined && !isSecret && asserted !== undefined;
  const number = isTrusted ? firstNumberOf(asserted) : undefined;
  if (number !== undefined) return number;
  return numberOfHeader(request.get('from') ?? '') || 'anonymous';
}

/** First E.164 number of a header's addresses: an identity may be a name by its sip URI, and a number by tel. RFC 3325, 9.1. */
function firstNumberOf(header: string): string | undefined {
  return withoutQuotedText(header).split(',').map(numberOfHeader).find(isE164);
}

/** Carriers that we register with ring the registered name; the number dialled is then in To alone. */
export function calledNumberOf(request: Invite, trunk: Trunk | undefined): string {
  const number = numberOfUri(request.uri);
  const isOurName = trunk?.username !== undefined && number === trunk.username;
  if (isE164(number) && !isOurName) return number;
  const inTo = numberOfHeader(request.get('to') ?? '');
  return isE164(inTo) ? inTo : withPlus(number, trunk);
}

/** Many carriers omit the plus; the trunk's own numbers show that it belongs there. */
function withPlus(number: string, trunk: Trunk | undefined): string {
  return trunk?.numbers.includes(`+${number}`) ? `+${number}` : number;
}

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

/** A header without its quoted text, such as display names, which may look like an address; text without an end quote stays. */
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

/** Whether the text can be dialled as it is: a number or a short code, without characters that SIP would interpret. */
export function isDialable(text: string): boolean {
  return /^\+?[0-9*#]{1,32}$/.test(text);
}

/** Certain cases only: a wrong country would route a call, or a transfer, to a stranger. */
function toE164(text: string, phoneContext: string): string | undefined {
  const digits = text.replace(VISUAL_SEPARATORS, '');
  if (!/^\+?\d+$/.test(digits)) return undefined;
  const candidate = digits.startsWith('00') ? `+${digits.slice(2)}` : digits;
  const whole = candidate.startsWith('+') ? candidate : phoneContext + candidate;
  return isE164(whole) ? whole : undefined;
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

/** Limits of `metadata.sip`. A header beyond them is left out and counted in `dropped`; none is cut. */
const SIP_METADATA_LIMITS = {
  headersMax: 20,
  headerNameCharsMax: 64,
  headerValueCharsMax: 255,
  diversionsMax: 5,
  /** 128 octets in hexadecimal, and parameters. RFC 7433, 4.1 and 8. */
  userToUserCharsMax: 512,
  /** Header lines of these kinds that are looked at. */
  linesMax: 100,
} as const;

/** One redirection of the call before it came here. RFC 5806. */
interface Diversion {
  /** E.164, or as received; `anonymous` where the diverting party wants privacy. */
  readonly number: string;
  readonly reason?: string;
}

/** `metadata.sip` of an incoming call: text of the far end, to be trusted no more than the caller's words. */
interface SipMetadata {
  /** X- headers, names in lower case; lines of one name are joined by `, `. */
  readonly headers?: Readonly<Record<string, string>>;
  /** RFC 7433, as received. */
  readonly userToUser?: string;
  /** The last redirection first, as in the header. */
  readonly diversion?: readonly Diversion[];
  /** The carrier's verdict on the caller's number (STIR/SHAKEN), not verified here. 3GPP TS 24.229, 7.2A.20. */
  readonly verstat?: string;
  /** How many header lines were left out for their size, number or characters. */
  readonly dropped?: number;
}

/** A header line: name in lower case, and value without folds. */
type HeaderLine = readonly [name: string, value: string];

/**
 * Reads the data that a call's record keeps of its INVITE.
 *
 * @param raw the whole message as received.
 * @param isFromTrunk whether a carrier sent it: without one, `verstat` has no meaning.
 * @returns undefined when there is nothing to keep.
 */
export function sipMetadataOf(raw: string, isFromTrunk: boolean): SipMetadata | undefined {
  const lines = headerLinesOf(raw);
  const x = xHeadersOf(lines);
  const userToUser = userToUserOf(lines);
  const diversion = diversionsOf(lines);
  const verstat = isFromTrunk ? verstatOf(lines) : undefined;
  const dropped = x.dropped + userToUser.dropped + diversion.dropped;
  const found: SipMetadata = {
    ...(Object.keys(x.kept).length > 0 && { headers: x.kept }),
    ...(userToUser.kept !== undefined && { userToUser: userToUser.kept }),
    ...(diversion.kept.length > 0 && { diversion: diversion.kept }),
    ...(verstat !== undefined && { verstat }),
    ...(dropped > 0 && { dropped }),
  };
  return Object.keys(found).length > 0 ? found : undefined;
}

/**
 * The calling party of a Remote-Party-ID that the carrier has screened, and that is not private; undefined without one.
 *
 * @see draft-ietf-sip-privacy-04, section 5, which carriers still send
 */
export function screenedPartyOf(header: string): string | undefined {
  return splitAtCommas(header).find((item) => {
    const { party = 'calling', screen = 'no', privacy = 'off' } = paramsOf(item);
    return party === 'calling' && screen === 'yes' && privacy === 'off';
  });
}

/** Visible ASCII and spaces, UTF-8 included; no control character, no replacement of broken UTF-8. */
const PLAIN = /^[^\p{Cc}\p{Cs}\uFFFD\u2028\u2029]*$/u;
const X_NAME = /^x-[a-z0-9\-.!%*_+`'~]+$/;

function xHeadersOf(lines: readonly HeaderLine[]) {
  const { headersMax, headerNameCharsMax, headerValueCharsMax, linesMax } = SIP_METADATA_LIMITS;
  const ours = lines.filter(([name]) => name.startsWith('x-'));
  const kept = new Map<string, string>();
  let dropped = Math.max(0, ours.length - linesMax);
  for (const [name, value] of ours.slice(0, linesMax)) {
    const before = kept.get(name);
    const joined = before === undefined ? value : `${before}, ${value}`;
    const isNamed = X_NAME.test(name) && name.length <= headerNameCharsMax;
    const hasRoom = before !== undefined || kept.size < headersMax;
    const isText = joined.length <= headerValueCharsMax && PLAIN.test(joined);
    if (isNamed && hasRoom && isText) kept.set(name, joined);
    else dropped += 1;
  }
  return { kept: Object.fromEntries(kept), dropped };
}

function userToUserOf(lines: readonly HeaderLine[]) {
  const [first, ...others] = valuesOf(lines, 'user-to-user');
  if (first === undefined) return { kept: undefined, dropped: 0 };
  const isFit = first.length <= SIP_METADATA_LIMITS.userToUserCharsMax && PLAIN.test(first);
  return { kept: isFit ? first : undefined, dropped: others.length + (isFit ? 0 : 1) };
}

function diversionsOf(lines: readonly HeaderLine[]) {
  const { diversionsMax, headerValueCharsMax, linesMax } = SIP_METADATA_LIMITS;
  const items = valuesOf(lines, 'diversion').slice(0, linesMax).flatMap(splitAtCommas);
  const fit = items.filter((item) => item.length <= headerValueCharsMax && PLAIN.test(item));
  const kept = fit.slice(0, diversionsMax).map(diversionOf);
  return { kept, dropped: items.length - kept.length };
}

function diversionOf(item: string): Diversion {
  const { privacy = 'off', reason } = paramsOf(item);
  const number = privacy === 'off' ? numberOfHeader(item) : 'anonymous';
  return { number: number || 'anonymous', ...(reason !== undefined && { reason }) };
}

/** In the URI alone: the display name and the parameters after it are the caller's. */
const VERSTAT =
  /^[^<]*<[^>]*;\s*verstat=(TN-Validation-(?:Passed|Failed)(?:-[A-C])?|No-TN-Validation)\b/i;

/** The parameter of the number in P-Asserted-Identity, else in From. */
function verstatOf(lines: readonly HeaderLine[]): string | undefined {
  const values = [...valuesOf(lines, 'p-asserted-identity'), ...valuesOf(lines, 'from')];
  return values
    .map((value) => VERSTAT.exec(withoutQuotedText(value))?.[1])
    .find((found) => found !== undefined);
}

/** Header parameters after the address, in lower case; without the parameters of the URI. */
function paramsOf(item: string): Readonly<Record<string, string>> {
  const after = item.slice(item.lastIndexOf('>') + 1);
  const pairs = [...after.matchAll(/;\s*([\w-]+)\s*=\s*"?([\w.-]+)"?/g)];
  return Object.fromEntries(
    pairs.map(([, name = '', value = '']) => [name.toLowerCase(), value.toLowerCase()]),
  );
}

function valuesOf(lines: readonly HeaderLine[], name: string): readonly string[] {
  return lines.flatMap(([one, value]) => (one === name ? [value] : []));
}

/** Splits a message into header lines. A folded line continues with a space or tab, and is one value. RFC 3261, 7.3.1. */
function headerLinesOf(raw: string): readonly HeaderLine[] {
  const [head = ''] = raw.split(/\r?\n\r?\n/, 1);
  const unfolded = head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  return unfolded.slice(1).map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
  });
}

/** Splits at commas outside of quotes and angle brackets. */
function splitAtCommas(text: string): readonly string[] {
  const items = text.match(/(?:"(?:\\.|[^"\\])*"?|<[^>]*>?|[^",<])+/g) ?? [];
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

/**
 * From, and the headers that the trunk's `callerIdHeader` adds.
 *
 * @see RFC 3325, section 9.1; draft-ietf-sip-privacy-04, section 5
 */
export function callerHeadersOf(trunk: Trunk, from: string): Readonly<Record<string, string>> {
  const caller = `<sip:${trunk.callerId ?? from}@${domainOf(trunk)}>`;
  const { callerIdHeader } = trunk;
  return {
    From: caller,
    ...(callerIdHeader !== 'from' && { 'P-Asserted-Identity': caller }),
    ...(callerIdHeader === 'rpid' && {
      'Remote-Party-ID': `${caller};party=calling;privacy=off;screen=yes`,
    }),
  };
}
