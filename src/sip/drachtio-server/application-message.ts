/** SIP as a drachtio client writes it: without Via, with parts that the server is to fill in; pure */
import { canonicalName } from '../message/header-name.ts';
import { SipError } from '../message/sip-error.ts';
import type { MessageParts, ResponseParts } from '../outgoing.ts';

/** What an application wants sent. Text is Unicode, unlike in `SipMessage`. */
export interface ApplicationMessage {
  /** Empty in responses. */
  readonly method: string;
  readonly uri: string;

  /** 0 in requests. */
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Headers that the engine writes, or that reach it by other ways. */
const LEFT_OUT = new Set([
  'via',
  'from',
  'to',
  'call-id',
  'cseq',
  'contact',
  'content-length',
  'content-type',
  'max-forwards',
  'record-route',
  'route',
]);

/**
 * Reads a message. Its Content-Length is not looked at: the client counts characters, not octets.
 *
 * @throws {SipError} 400 when the first line is none.
 */
export function parseApplicationMessage(octets: Buffer): ApplicationMessage {
  const headEnd = octets.indexOf('\r\n\r\n');
  const head = octets.toString('utf8', 0, headEnd === -1 ? octets.length : headEnd);
  const [startLine = '', ...lines] = head.split('\r\n');
  return {
    ...parseStartLine(startLine),
    headers: lines.map(parseHeader).filter((header) => header !== undefined),
    body: headEnd === -1 ? Buffer.alloc(0) : octets.subarray(headEnd + 4),
  };
}

/** The first value of a header; undefined where there is none, or the client had none. */
export function headerOf(message: ApplicationMessage, name: string): string | undefined {
  return message.headers.find((header) => header[0] === name)?.[1];
}

/** What of a message the engine is to send as it is. */
export function partsOf(message: ApplicationMessage): MessageParts {
  const headers: Record<string, string[]> = {};
  const isRedirect = message.status >= 300 && message.status < 400;
  for (const [name, value] of message.headers) {
    if (LEFT_OUT.has(name) && !(name === 'contact' && isRedirect)) continue;
    headers[name] = [...(headers[name] ?? []), value];
  }
  const contentType = headerOf(message, 'content-type');
  return {
    headers,
    ...(message.body.length > 0 && { body: message.body }),
    ...(contentType !== undefined && { contentType }),
  };
}

/** The same of a response, with the phrase that the application chose. */
export function responsePartsOf(message: ApplicationMessage): ResponseParts {
  return { ...partsOf(message), ...(message.reason !== '' && { reason: message.reason }) };
}

function parseStartLine(line: string): Omit<ApplicationMessage, 'headers' | 'body'> {
  const response = /^SIP\/2\.0 (\d{3}) ?(.*)$/.exec(line);
  if (response !== null) {
    const [, status, reason = ''] = response;
    return { method: '', uri: '', status: Number(status), reason };
  }
  const [method = '', uri = '', version] = line.split(' ');
  if (version !== 'SIP/2.0') throw new SipError(400, 'Bad start line');
  return { method, uri, status: 0, reason: '' };
}

/** The client writes `undefined` for headers that it was given no value for. */
function parseHeader(line: string): [name: string, value: string] | undefined {
  const colon = line.indexOf(':');
  const value = line.slice(colon + 1).trim();
  if (colon < 1 || value === '' || value === 'undefined') return undefined;
  return [canonicalName(line.slice(0, colon).trim()), value];
}
