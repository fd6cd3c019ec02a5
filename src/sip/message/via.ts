/** Via header: the hop that a request came from and its response returns to; pure */
import {
  endOfRun,
  formatParams,
  isSpace,
  type Params,
  parseDecimal,
  parseParams,
  skipSpace,
  TOKEN,
} from './grammar.ts';
import { SipError } from './status.ts';
import { endOfHost, formatHostPort, parsePort } from './uri.ts';

/** One Via value. @see RFC 3261 section 20.42 */
export interface Via {
  /** `2.0` in everything that can be answered. */
  readonly version: string;

  /** Upper case: UDP, TCP, TLS, or any other token. */
  readonly transport: string;

  /** The sent-by host, lower case; an IPv6 address keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
}

/** How nearly every Via begins. */
const USUAL_START = 'SIP/2.0/';

/**
 * Reads one Via value.
 *
 * ```
 * SIP / 2.0 / UDP  host : port ; branch = z9hG4bK...
 * ```
 *
 * @throws {SipError} 400 when the text is none.
 * @see RFC 3261 section 20.42 and section 25.1, via-parm
 */
export function parseVia(text: string): Via {
  const isUsual = text.startsWith(USUAL_START);
  const [version, versionEnd] = isUsual
    ? ['2.0', USUAL_START.length]
    : versionAt(text, skipSpace(text, 0));
  const transportStart = skipSpace(text, versionEnd);
  const transportEnd = endOfRun(text, TOKEN, transportStart);
  if (!isSpace(text.charCodeAt(transportEnd))) throw new SipError(400, 'Bad Via');

  const hostStart = skipSpace(text, transportEnd);
  const hostEnd = endOfHost(text, hostStart);
  const [port, afterPort] = portAt(text, skipSpace(text, hostEnd));
  return {
    version,
    transport: text.slice(transportStart, transportEnd).toUpperCase(),
    host: text.slice(hostStart, hostEnd).toLowerCase(),
    port,
    params: parseParams(text, afterPort),
  };
}

/** Writes the Via back. */
export function formatVia(via: Via): string {
  return `SIP/${via.version}/${via.transport} ${formatHostPort(via)}${formatParams(via.params)}`;
}

/** Whether the text is a version number, such as `2.0`. */
export function isVersion(text: string): boolean {
  const dot = text.indexOf('.');
  const major = parseDecimal(text.slice(0, Math.max(dot, 0)), 999);
  return major !== undefined && parseDecimal(text.slice(dot + 1), 999) !== undefined;
}

/** Reads `SIP / 2.0 /`, which may hold space. */
function versionAt(text: string, start: number): [version: string, end: number] {
  const [protocol, afterProtocol] = tokenAt(text, start);
  const [version, afterVersion] = tokenAt(text, afterSlash(text, afterProtocol));
  const end = afterSlash(text, afterVersion);
  if (protocol.toUpperCase() !== 'SIP' || !isVersion(version)) throw new SipError(400, 'Bad Via');
  return [version, end];
}

function tokenAt(text: string, start: number): [token: string, end: number] {
  const end = endOfRun(text, TOKEN, start);
  return [text.slice(start, end), end];
}

function afterSlash(text: string, start: number): number {
  const slash = skipSpace(text, start);
  if (text.charCodeAt(slash) !== 0x2f) throw new SipError(400, 'Bad Via');
  return skipSpace(text, slash + 1);
}

function portAt(text: string, start: number): [port: number | undefined, end: number] {
  if (text.charCodeAt(start) !== 0x3a) return [undefined, start];
  const portStart = skipSpace(text, start + 1);
  let end = portStart;
  while (end < text.length && !isSpace(text.charCodeAt(end)) && text.charAt(end) !== ';') end++;
  return [parsePort(text.slice(portStart, end)), skipSpace(text, end)];
}
