/** Addresses: sip, sips and tel URIs; pure */
import {
  formatParams,
  NO_PARAMS,
  type Params,
  parseParams,
  QUOTED,
  TOKEN,
  unquote,
} from './grammar.ts';
import { SipError } from './status.ts';

/** One address, its parts as they were written: escapes are left in place. */
export interface SipUri {
  readonly scheme: 'sip' | 'sips' | 'tel';

  /** Undefined without a user part. Of a tel URI the number without visual separators. */
  readonly user: string | undefined;
  readonly password: string | undefined;

  /** Lower case; an IPv6 address keeps its brackets; empty for tel. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;

  /** Text after `?`; empty without one. Never copied into headers: the sender of a URI must not set them. */
  readonly headers: string;
}

const UNRESERVED = "\\w\\-.!~*'()";

/** Parameters of a URI. @see RFC 3261 section 25.1, uri-parameters */
const PARAMS = `((?:;[${UNRESERVED}[\\]/:&+$%]+(?:=[${UNRESERVED}[\\]/:&+$%]+)?)*)`;

/** A host with an optional port; with the underscore that many private networks use. @see RFC 3261 section 25.1, hostport */
export const HOST = '([\\w.\\-]+|\\[[0-9a-fA-F:.]+\\])';

/**
 * The user part may hold `#`, which is not in the grammar: carriers send service codes such as `*31#` unescaped, and it
 * cannot be mistaken for anything else.
 *
 * @see RFC 3261 section 25.1, SIP-URI
 */
const SIP_URI = new RegExp(
  `^sips?:(?:([${UNRESERVED}&=+$,;?/%#]+)(?::([${UNRESERVED}&=+$,%]*))?@)?` +
    `${HOST}(?::(\\d+))?${PARAMS}(?:\\?([${UNRESERVED}[\\]/?:+$%=&]+))?$`,
  'i',
);

/** @see RFC 3966 section 3 */
const TEL_URI = new RegExp(`^tel:([0-9a-f*#+\\-.()]+)${PARAMS}$`, 'i');

/** Any URI: no space, quote, control character or angle bracket. @see RFC 3261 section 25.1, absoluteURI */
const ANY_URI = /^([a-z][a-z0-9+\-.]*):[!#-;=?-~\x80-\xff]+$/i;

/**
 * Reads a sip, sips or tel URI.
 *
 * @throws {SipError} 416 for any other scheme, 400 for anything that is no URI.
 * @see RFC 3261 section 19.1, RFC 3966 section 3
 */
export function parseUri(text: string): SipUri {
  const scheme = uriScheme(text);
  const isUnescaped = /%(?![0-9a-f]{2})/i.test(text);
  if (scheme === 'tel') {
    const [, number, params = ''] = TEL_URI.exec(text) ?? [];
    if (number === undefined) throw badUri();
    const user = number.replace(/[-.()]/g, '');
    const rest = { password: undefined, host: '', port: undefined, headers: '' };
    return { scheme, user, ...rest, params: uriParams(params) };
  }
  if (scheme !== 'sip' && scheme !== 'sips') throw new SipError(416, 'Unsupported URI Scheme');
  const [, user, password, host, port, params = '', headers = ''] = SIP_URI.exec(text) ?? [];
  if (host === undefined || isUnescaped) throw badUri();
  return {
    scheme,
    user,
    password,
    host: host.toLowerCase(),
    port: portOf(port),
    params: uriParams(params),
    headers,
  };
}

/**
 * The scheme of any URI, in lower case; the rest is not looked at, save that it has no space,
 * no control character and no angle bracket.
 *
 * @throws {SipError} 400 when the text is no URI.
 */
export function uriScheme(text: string): string {
  const [, scheme] = ANY_URI.exec(text) ?? [];
  if (scheme === undefined) throw badUri();
  return scheme.toLowerCase();
}

function badUri(): SipError {
  return new SipError(400, 'Bad URI');
}

/** Parses URI parameters; of a repeated name the first counts. */
function uriParams(text: string): Params {
  if (text === '') return NO_PARAMS;
  const params = new Map<string, string | null>();
  for (const param of text.slice(1).split(';')) {
    const [name = '', value = null] = param.split('=');
    if (!params.has(name.toLowerCase())) params.set(name.toLowerCase(), value);
  }
  return params;
}

/**
 * Port number of an address.
 *
 * @throws {SipError} 400 when it is not 1 to 65535.
 */
export function portOf(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  const port = Number(digits);
  if (port < 1 || port > 65_535) throw new SipError(400, 'Bad Port');
  return port;
}

/** Writes the URI back. */
export function formatUri(uri: SipUri): string {
  const password = uri.password === undefined ? '' : `:${uri.password}`;
  const params = formatParams(uri.params);
  if (uri.scheme === 'tel') return `tel:${uri.user ?? ''}${params}`;
  const user = uri.user === undefined ? '' : `${uri.user}${password}@`;
  const headers = uri.headers === '' ? '' : `?${uri.headers}`;
  return `${uri.scheme}:${user}${formatHostPort(uri)}${params}${headers}`;
}

interface HostPort {
  /** Lower case; an IPv6 address keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/** Formats a host with its optional port. */
export function formatHostPort(address: HostPort): string {
  return address.port === undefined ? address.host : `${address.host}:${address.port}`;
}

/** Display name, URI and parameters of a From, To or Contact header. */
export interface NameAddr {
  /** Unquoted and decoded from UTF-8; empty without a display name. */
  readonly displayName: string;

  /** Any URI, as it was written; `parseUri` reads the ones that can be called. */
  readonly uri: string;

  /** The header's parameters, not the URI's. */
  readonly params: Params;
}

/** Display names in other alphabets are often sent without the quotes they need; nothing else looks like them. */
const NAME_ADDR = new RegExp(
  `^(?:[ \\t]*(${QUOTED})[ \\t]*|([${TOKEN} \\t\\x80-\\xff]*))<([^>]*)>([\\s\\S]*)$`,
);

/** Address without angle brackets: its URI ends at the first `;`, and may hold neither `,` nor `?`. */
const ADDR_SPEC = /^[ \t]*([^ \t;,?]+)([ \t;][\s\S]*)?$/;

/**
 * Parses `"Name" <uri>;params`, `Name <uri>;params` or `uri;params`.
 *
 * @throws {SipError} 400 for any other text.
 * @see RFC 3261 section 20.10 and section 25.1, name-addr
 */
export function parseNameAddr(text: string): NameAddr {
  const [, quoted, words = '', bracketed, rest] = NAME_ADDR.exec(text) ?? [];
  const [, bare, params = ''] = bracketed === undefined ? (ADDR_SPEC.exec(text) ?? []) : [];
  const uri = bracketed ?? bare;
  if (uri === undefined) throw new SipError(400, 'Bad Address');
  uriScheme(uri);
  const displayName = decodeUtf8(quoted === undefined ? words.trim() : unquote(quoted));
  return { displayName, uri, params: parseParams(rest ?? params) };
}

function decodeUtf8(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
