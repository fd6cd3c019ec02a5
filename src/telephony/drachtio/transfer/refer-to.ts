/** Reads whom a far end's REFER names (Refer-To): a number at a domain of its trunk; pure */
import { isDialable, numberOfUri, withoutQuotedText } from '../../far-end-headers.ts';
import { hostOfUri } from '../../trunks/trunk-table.ts';

/** Longer values are refused unread. */
const CHARS_MAX = 512;

/** What a trunk lets a REFER name. */
export interface ReferRules {
  /** Whether calls of the trunk are `sips`. */
  readonly isSips: boolean;
  /** Whether the host, in lower case and without brackets, is one of the trunk's. */
  readonly isKnownHost: (host: string) => boolean;
}

/** The number as it was written; or the status of the refusal, and its reason, which quotes nothing. */
export type ReferTarget = { readonly kind: 'number'; readonly number: string } | ReferRefusal;

/** Why a REFER is refused. */
export interface ReferRefusal {
  readonly kind: 'refused';
  readonly sipStatus: number;
  readonly why: string;
}

/**
 * Reads Refer-To.
 *
 * Whether the number may be called is the dial policy's to decide.
 *
 * @param header lines of several headers are joined with commas; undefined without one.
 * @see RFC 3515 section 2.1
 */
export function readReferTo(header: string | undefined, rules: ReferRules): ReferTarget {
  if (header === undefined || header.trim() === '') return refused(400, 'it has no Refer-To');
  if (header.length > CHARS_MAX) return refused(414, 'its Refer-To is too long');
  const uri = uriOf(header);
  return uri === undefined ? refused(400, 'its Refer-To is not one address') : targetOf(uri, rules);
}

/** The one URI of the header; undefined without one, and for several. RFC 3261, 20: `,`, `?` and `;` need `<>`. */
function uriOf(header: string): string | undefined {
  const text = withoutQuotedText(header).trim();
  if (!/^[\x20-\x7e]*$/.test(text)) return undefined;
  const [, bracketed] = /^[^<>,;:"@]*<([^<>"\s]+)>\s*(?:;[^<>,"]*)?$/.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed;
  const [, bare] = /^([^\s<>,;?"]+)\s*(?:;[^<>,"]*)?$/.exec(text) ?? [];
  return bare;
}

function targetOf(uri: string, { isSips, isKnownHost }: ReferRules): ReferTarget {
  const [, scheme, rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):(.+)$/.exec(uri) ?? [];
  if (scheme === undefined) return refused(400, 'its Refer-To is not one address');
  const isPlain = scheme.toLowerCase() === 'sip';
  if (!isPlain && !(isSips && scheme.toLowerCase() === 'sips')) {
    return refused(416, `${isSips ? 'a sip or sips' : 'a sip'} address is expected`);
  }
  const [address = '', headers] = rest.split('?', 2);
  if (headers !== undefined && /(?:^|&)replaces=/i.test(headers)) {
    return refused(501, 'a call cannot replace another one by REFER');
  }
  if (headers !== undefined) return refused(400, 'its Refer-To has headers');
  const [, method] = /@.*;method=([^;]*)/i.exec(address) ?? [];
  if (method !== undefined && method.toUpperCase() !== 'INVITE') {
    return refused(501, 'only calls can be referred to');
  }
  return numberAt(`sip:${address}`, isKnownHost);
}

function numberAt(uri: string, isKnownHost: ReferRules['isKnownHost']): ReferTarget {
  const [user, ...hosts] = uri.slice('sip:'.length).split('@');
  if (user === undefined || hosts.length !== 1) return refused(400, 'its address has no number');
  if (user.includes(':')) return refused(400, 'its address has a password');
  if (!isKnownHost(hostOfUri(uri))) return refused(403, 'its domain is not one of the trunk');
  const number = numberOfUri(uri);
  if (!isDialable(number)) return refused(484, 'its address is not a number');
  return { kind: 'number', number };
}

function refused(sipStatus: number, why: string): ReferRefusal {
  return { kind: 'refused', sipStatus, why };
}
