/** Reads the first line of a message; pure */
import { consistsOf, parseDecimal, TOKEN } from '../message/char-class.ts';
import type { SipMessage } from '../message/message.ts';
import { faultOf, SipError } from '../message/sip-error.ts';
import { parseUri } from '../message/uri.ts';
import { isVersion } from '../message/via.ts';

/**
 * Reads a Request-Line or Status-Line into the message.
 *
 * @throws {SipError} 400 or 505 for a request that can be answered, with its method set; 0 for
 * what is no request, or no SIP at all.
 * @see RFC 3261 sections 7.1 and 7.2
 */
export function readStartLine(line: string, message: SipMessage): void {
  if (line.slice(0, 4).toUpperCase() === 'SIP/') readStatusLine(line, message);
  else readRequestLine(line, message);
}

function readStatusLine(line: string, message: SipMessage): void {
  const isSound = line.slice(3, 8) === '/2.0 ' && (line.length === 11 || line.charAt(11) === ' ');
  const status = parseDecimal(line.slice(8, 11), 699);
  if (!isSound || status === undefined || status < 100) throw new SipError(0, 'Bad Status-Line');
  message.status = status;
  message.reason = line.slice(12);
  if (/[\r\n]/.test(message.reason)) throw new SipError(0, 'Bad Status-Line');
}

function readRequestLine(line: string, message: SipMessage): void {
  const methodEnd = line.indexOf(' ');
  const uriEnd = line.lastIndexOf(' ');
  if (methodEnd === -1 || !consistsOf(line, TOKEN, 0, methodEnd)) {
    throw new SipError(0, 'Bad Request-Line');
  }
  message.method = line.slice(0, methodEnd);
  message.uri = line.slice(methodEnd + 1, uriEnd);

  const version = line.slice(uriEnd + 1);
  const isSip = version.slice(0, 4).toUpperCase() === 'SIP/' && isVersion(version.slice(4));
  if (!isSip) throw new SipError(400, 'Bad Request-Line');
  if (version.slice(4) !== '2.0') throw new SipError(505, 'Version Not Supported');
  checkRequestUri(message.uri);
}

/** Schemes that the engine does not serve are left to `checkRequest`: the message is sound. */
function checkRequestUri(uri: string): void {
  let headers = '';
  const fault = faultOf(() => {
    headers = parseUri(uri).headers;
  });
  const isSound = headers === '' && (fault === undefined || fault.status === 416);
  if (!isSound) throw new SipError(400, 'Bad Request-URI');
}
