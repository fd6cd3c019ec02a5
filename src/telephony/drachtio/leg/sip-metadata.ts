/** What the headers of an INVITE tell about its call besides the numbers, within limits; pure */
import { numberOfHeader, withoutQuotedText } from '../../trunks/number.ts';

/** Limits of `metadata.sip`. A header beyond them is left out and counted in `dropped`; none is cut. */
export const SIP_METADATA_LIMITS = {
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
export interface SipMetadata {
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
 * Reads what a call's record keeps of its INVITE.
 *
 * @param raw the whole message as received.
 * @param isFromTrunk whether a carrier sent it: without one, `verstat` says nothing.
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

/** Parameters after the address, in lower case; those of the URI are not among them. */
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

/** A folded line goes on with a space or tab, and is one value: no header begins within it. RFC 3261, 7.3.1. */
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
