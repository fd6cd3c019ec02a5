/** Addresses: sip, sips and tel URIs; pure */
import {
  ANY_URI,
  type CharClass,
  consistsOf,
  endOfQuoted,
  endOfRun,
  formatParams,
  HOST_NAME,
  IPV6,
  isSpace,
  NO_PARAMS,
  type Params,
  parseDecimal,
  parseParams,
  SCHEME,
  skipSpace,
  TEL_NUMBER,
  TOKEN,
  URI_HEADER,
  URI_PARAM,
  URI_PASSWORD,
  URI_USER,
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

/**
 * Reads a sip, sips or tel URI.
 *
 * @throws {SipError} 416 for any other scheme, 400 for anything that is no URI.
 * @see RFC 3261 section 19.1, RFC 3966 section 3
 */
export function parseUri(text: string): SipUri {
  const scheme = uriScheme(text);
  switch (scheme) {
    case 'sip':
    case 'sips':
      return parseSipUri(scheme, text, scheme.length + 1);
    case 'tel':
      return parseTelUri(text);
    default:
      throw new SipError(416, 'Unsupported URI Scheme');
  }
}

/**
 * The scheme of any URI, in lower case; the rest is not looked at, save that it has no space,
 * no control character and no angle bracket.
 *
 * @throws {SipError} 400 when the text is no URI.
 */
export function uriScheme(text: string): string {
  const colon = text.indexOf(':');
  const isUri =
    colon > 0 &&
    isLetter(text) &&
    consistsOf(text, SCHEME, 0, colon) &&
    consistsOf(text, ANY_URI, colon + 1);
  if (!isUri) throw new SipError(400, 'Bad URI');
  return text.slice(0, colon).toLowerCase();
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

function isLetter(text: string): boolean {
  const code = text.charCodeAt(0) | 0x20;
  return code >= 0x61 && code <= 0x7a;
}

function parseSipUri(scheme: 'sip' | 'sips', text: string, start: number): SipUri {
  const at = text.indexOf('@', start);
  const account = at === -1 ? undefined : parseAccount(text.slice(start, at));

  const hostStart = at === -1 ? start : at + 1;
  const hostEnd = endOfHost(text, hostStart);
  const question = text.indexOf('?', hostEnd);
  const paramsEnd = question === -1 ? text.length : question;
  const semicolon = text.indexOf(';', hostEnd);
  const portEnd = semicolon === -1 || semicolon > paramsEnd ? paramsEnd : semicolon;

  return {
    scheme,
    user: account?.user,
    password: account?.password,
    host: text.slice(hostStart, hostEnd).toLowerCase(),
    port: hostEnd === portEnd ? undefined : parsePortAt(text, hostEnd, portEnd),
    params: parseUriParams(text, portEnd, paramsEnd),
    headers: question === -1 ? '' : checked(text.slice(question + 1), URI_HEADER),
  };
}

/** The user part cannot hold a bare colon, so the first one begins the password. */
function parseAccount(text: string): { user: string; password: string | undefined } {
  const colon = text.indexOf(':');
  const user = checked(colon === -1 ? text : text.slice(0, colon), URI_USER);
  if (colon === -1) return { user, password: undefined };
  const password = text.slice(colon + 1);
  return { user, password: password === '' ? '' : checked(password, URI_PASSWORD) };
}

function parsePortAt(text: string, start: number, end: number): number {
  if (text.charCodeAt(start) !== 0x3a) throw new SipError(400, 'Bad URI');
  return parsePort(text.slice(start + 1, end));
}

function parseTelUri(text: string): SipUri {
  const semicolon = text.indexOf(';');
  const numberEnd = semicolon === -1 ? text.length : semicolon;
  const number = checked(text.slice(4, numberEnd), TEL_NUMBER);
  return {
    scheme: 'tel',
    user: number.replace(/[-.()]/g, ''),
    password: undefined,
    host: '',
    port: undefined,
    params: parseUriParams(text, numberEnd, text.length),
    headers: '',
  };
}

/** Parses `;name=value;name` between two indices. Of a repeated name the first counts. */
function parseUriParams(text: string, start: number, end: number): Params {
  if (start === end) return NO_PARAMS;
  const params = new Map<string, string | null>();
  for (const param of text.slice(start + 1, end).split(';')) {
    const equals = param.indexOf('=');
    const name = checked(equals === -1 ? param : param.slice(0, equals), URI_PARAM).toLowerCase();
    const value = equals === -1 ? null : checked(param.slice(equals + 1), URI_PARAM);
    if (!params.has(name)) params.set(name, value);
  }
  return params;
}

/** Returns the text after checking its characters, and that two hexadecimal digits follow every `%`. */
function checked(text: string, allowed: CharClass): string {
  if (!consistsOf(text, allowed) || !hasSoundEscapes(text)) throw new SipError(400, 'Bad URI');
  return text;
}

function hasSoundEscapes(text: string): boolean {
  for (let i = text.indexOf('%'); i !== -1; i = text.indexOf('%', i + 1)) {
    if (!/^[0-9A-Fa-f]{2}$/.test(text.slice(i + 1, i + 3))) return false;
  }
  return true;
}

interface HostPort {
  /** Lower case; an IPv6 address keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * End of the host that begins at `start`.
 *
 * @throws {SipError} 400 without a host.
 */
export function endOfHost(text: string, start: number): number {
  if (text.charCodeAt(start) !== 0x5b) {
    const end = endOfRun(text, HOST_NAME, start);
    if (end === start) throw new SipError(400, 'Bad Host');
    return end;
  }
  const close = text.indexOf(']', start);
  if (close === -1 || !consistsOf(text, IPV6, start + 1, close))
    throw new SipError(400, 'Bad Host');
  return close + 1;
}

/**
 * Reads a port number.
 *
 * @throws {SipError} 400 when it is not 1 to 65535.
 */
export function parsePort(text: string): number {
  const port = parseDecimal(text, 65_535);
  if (port === undefined || port === 0) throw new SipError(400, 'Bad Port');
  return port;
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

/**
 * Parses `"Name" <uri>;params`, `Name <uri>;params` or `uri;params`.
 *
 * Without angle brackets the URI ends at the first `;`, and may hold neither `,` nor `?`.
 *
 * @throws {SipError} 400 for any other text.
 * @see RFC 3261 section 20.10 and section 25.1, name-addr
 */
export function parseNameAddr(text: string): NameAddr {
  const start = skipSpace(text, 0);
  const open = openingBracket(text, start);
  if (open === -1) return parseAddrSpec(text, start);

  const close = text.indexOf('>', open);
  if (close === -1) throw new SipError(400, 'Bad Address');
  const uri = text.slice(open + 1, close);
  uriScheme(uri);
  return {
    displayName: decodeUtf8(parseDisplayName(text.slice(start, open))),
    uri,
    params: parseParams(text, close + 1),
  };
}

/** Index of the URI's opening bracket; -1 without one before the parameters. */
function openingBracket(text: string, start: number): number {
  if (text.charCodeAt(start) !== 0x22) {
    const bracket = text.indexOf('<', start);
    const semicolon = text.indexOf(';', start);
    return semicolon !== -1 && semicolon < bracket ? -1 : bracket;
  }
  const end = endOfQuoted(text, start);
  const bracket = end === -1 ? -1 : skipSpace(text, end);
  if (bracket === -1 || text.charCodeAt(bracket) !== 0x3c) throw new SipError(400, 'Bad Address');
  return bracket;
}

function parseAddrSpec(text: string, start: number): NameAddr {
  let end = start;
  while (end < text.length && !isSpace(text.charCodeAt(end)) && text.charAt(end) !== ';') end++;
  const uri = text.slice(start, end);
  if (uri.includes(',') || uri.includes('?')) throw new SipError(400, 'Bad Address');
  uriScheme(uri);
  return { displayName: '', uri, params: parseParams(text, end) };
}

/** Parses the display name before the bracket: a quoted string, or token words. */
function parseDisplayName(text: string): string {
  const name = text.trimEnd();
  if (name.charCodeAt(0) === 0x22) return unquote(name);
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (!isSpace(code) && !isNameCode(code)) throw new SipError(400, 'Bad Display Name');
  }
  return name;
}

/** Names in other alphabets are often sent without the quotes they need; nothing else looks like them. */
function isNameCode(code: number): boolean {
  return TOKEN[code] === 1 || code >= 0x80;
}

function decodeUtf8(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
