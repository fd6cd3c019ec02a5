/** A host and an optional port, as Via and URIs carry them; pure */
import { consistsOf, endOfRun, HOST_NAME, IPV6, parseDecimal } from './char-class.ts';
import { SipError } from './sip-error.ts';

export interface HostPort {
  /** Lower case; an IPv6 address keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * Where the host that begins at `start` ends.
 *
 * @throws {SipError} 400 when there is none.
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

/** Writes a host with its port, where there is one. */
export function formatHostPort(address: HostPort): string {
  return address.port === undefined ? address.host : `${address.host}:${address.port}`;
}
