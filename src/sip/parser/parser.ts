/** Reads a whole message from octets, strictly; pure */
import {
  canonicalName,
  isToken,
  parseDecimal,
  splitList,
  TOKEN,
  trimmed,
  wireName,
} from '../message/grammar.ts';
import {
  BadMessageError,
  BRANCH_COOKIE,
  type HeaderLine,
  parseVia,
  SipMessage,
  type Via,
} from '../message/message.ts';
import { faultOf, SipError } from '../message/status.ts';
import { parseNameAddr, parseUri } from '../message/uri.ts';
import { isKnownMethod } from './request-check.ts';

const CRLF_CRLF = Buffer.from('\r\n\r\n');

/** A message whose body is not yet read, and the first error in its head. */
export interface MessageHead {
  readonly message: SipMessage;
  readonly fault: SipError | undefined;
}

/**
 * Parses one message: a datagram, or a framed message of a stream.
 *
 * In a datagram a missing Content-Length means "to the end", and octets after the body are ignored; in a stream
 * (`stream: true`) a missing Content-Length is an error.
 *
 * @throws {BadMessageError} with the status to answer with, or 0 for no response.
 * @see RFC 3261 sections 7 and 18.3, RFC 4475
 */
export function parseMessage(bytes: Buffer, options: { stream?: boolean } = {}): SipMessage {
  const start = skipLineBreaks(bytes);
  const headEnd = bytes.indexOf(CRLF_CRLF, start);
  if (headEnd === -1 || bytes.length > MESSAGE_BYTES_MAX) {
    throw new BadMessageError(0, headEnd === -1 ? 'Headers Without End' : 'Message Too Large');
  }
  const head = parseHead(bytes.toString('latin1', start, headEnd));
  const rest = bytes.subarray(headEnd + CRLF_CRLF.length);
  head.message.wire = bytes;
  return finishMessage(head, rest, options.stream === true);
}

/**
 * Parses the start line and headers, without the empty line after them.
 *
 * @param head one character per octet (latin1).
 * @throws {BadMessageError} for an unreadable start line.
 */
export function parseHead(head: string): MessageHead {
  if (head.length > HEAD_BYTES_MAX) throw new BadMessageError(0, 'Headers Too Large');
  const lineEnd = head.indexOf('\r\n');
  const startLineEnd = lineEnd === -1 ? head.length : lineEnd;
  const message = new SipMessage();

  const lineFault = faultOf(() => readStartLine(head.slice(0, startLineEnd), message));
  if (lineFault?.status === 0) throw new BadMessageError(0, lineFault.message);
  const headerFault =
    lineEnd === -1 ? undefined : readHeaderLines(head.slice(lineEnd + 2), message);
  const checkFault = faultOf(() => checkHeaders(message));
  const isUnanswerable = checkFault?.status === 0;
  const fault = isUnanswerable ? checkFault : (lineFault ?? headerFault ?? checkFault);
  return { message, fault };
}

/**
 * Adds the body, and checks the head.
 *
 * @throws {BadMessageError} for an invalid head or length.
 */
export function finishMessage(head: MessageHead, rest: Buffer, isStream: boolean): SipMessage {
  const { message } = head;
  const lengthBytes = contentLength(message);
  const isMissing = lengthBytes === undefined && isStream;
  const isWrong = lengthBytes === null || isMissing || (lengthBytes ?? 0) > rest.length;
  if (rest.length > 0) message.body = rest.subarray(0, lengthBytes ?? rest.length);

  const fault = head.fault ?? (isWrong ? new SipError(400, 'Bad Content-Length') : undefined);
  if (fault === undefined) return message;
  const mayAnswer = message.isRequest && message.method !== 'ACK';
  throw new BadMessageError(mayAnswer ? fault.status : 0, fault.message, message);
}

/** Content-Length of the message: undefined without one, null for an invalid one. */
export function contentLength(message: SipMessage): number | undefined | null {
  let lengthBytes: number | undefined | null;
  for (const [name, value] of message.headers) {
    if (name !== 'content-length') continue;
    if (lengthBytes !== undefined) return null;
    lengthBytes = parseDecimal(value, MESSAGE_BYTES_MAX) ?? null;
  }
  return lengthBytes;
}

/** Line breaks before a message are keep-alives (section 7.5). */
function skipLineBreaks(bytes: Buffer): number {
  let start = 0;
  while (bytes[start] === 0x0d && bytes[start + 1] === 0x0a) start += 2;
  return start;
}

/**
 * Parses a Request-Line or Status-Line into the message.
 *
 * @throws {SipError} 400 or 505 for a request that can be answered, with its method set; 0 for any other text.
 * @see RFC 3261 sections 7.1 and 7.2
 */
function readStartLine(line: string, message: SipMessage): void {
  if (line.slice(0, 4).toUpperCase() === 'SIP/') readStatusLine(line, message);
  else readRequestLine(line, message);
}

function readStatusLine(line: string, message: SipMessage): void {
  const [, status, reason = ''] = /^sip\/2\.0 ([1-6]\d\d)(?: ([^\r\n]*))?$/i.exec(line) ?? [];
  if (status === undefined) throw new SipError(0, 'Bad Status-Line');
  message.status = Number(status);
  message.reason = reason;
}

function readRequestLine(line: string, message: SipMessage): void {
  const [, method = '', uri = '', version = ''] = /^(\S+) (?:(.*) )?(.*)$/s.exec(line) ?? [];
  if (!isToken(method)) throw new SipError(0, 'Bad Request-Line');
  message.method = method;
  message.uri = uri;
  if (!/^sip\/\d+\.\d+$/i.test(version)) throw new SipError(400, 'Bad Request-Line');
  if (version.slice(4) !== '2.0') throw new SipError(505, 'Version Not Supported');
  checkRequestUri(uri);
}

/** Schemes that the engine does not serve are left to `checkRequest`: the message is sound. */
function checkRequestUri(uri: string): void {
  const fault = faultOf(() => {
    if (parseUri(uri).headers !== '') throw new SipError(400, 'Headers In URI');
  });
  if (fault !== undefined && fault.status !== 416) throw new SipError(400, 'Bad Request-URI');
}

/**
 * Parses header lines into the message; skips lines that are no header.
 *
 * @returns the first error.
 * @see RFC 3261 section 7.3.1
 */
function readHeaderLines(text: string, message: SipMessage): SipError | undefined {
  let fault: SipError | undefined;
  for (const line of text.split(/\r\n(?![ \t])/)) {
    const header = line.length > HEADER_BYTES_MAX ? undefined : readHeader(line);
    if (header === undefined) fault ??= new SipError(400, 'Bad Header Line');
    else if (message.headers.length === HEADER_LINES_MAX) {
      return fault ?? new SipError(400, 'Too Many Header Lines');
    } else message.headers.push(header);
  }
  return fault;
}

const HEADER = new RegExp(`^([${TOKEN}]+)[ \\t]*:([\\s\\S]*)$`);

/** Parses one header, each line fold replaced by a space; undefined for any other text, and for a bare CR or LF. */
function readHeader(line: string): HeaderLine | undefined {
  const [, name = '', text = ''] = HEADER.exec(line) ?? [];
  const value = trimmed(text.split('\r\n').map(trimmed).join(' '));
  return name === '' || /[\r\n]/.test(value) ? undefined : [canonicalName(name), value];
}

/** Size limit of a message: that of a UDP datagram, so that no transport allows more than another. */
const MESSAGE_BYTES_MAX = 65_536;

/** Size limit of start line and headers together. */
export const HEAD_BYTES_MAX = 65_536;

/** Header lines in one message; more are refused. */
export const HEADER_LINES_MAX = 256;

/** Size limit of one header with its continuation lines. Identity tokens, the longest in use, stay under 8 kB. */
export const HEADER_BYTES_MAX = 16_384;

/** Lists of addresses, checked on receipt because they are used later. */
const ADDRESS_LISTS = ['contact', 'route', 'record-route'] as const;

/** Headers that may occur once only. @see RFC 3261 section 7.3.1 */
const SINGLE = new Set(
  'call-id content-length content-type cseq expires from max-forwards min-se rack refer-to replaces rseq session-expires to'.split(
    ' ',
  ),
);

const MAX_FORWARDS_MAX = 255;

/**
 * Checks the mandatory headers, and the syntax of those that the engine reads.
 *
 * @throws {SipError} 400; 501 when method and CSeq differ and the method is unknown; 0 without a usable top Via.
 * @see RFC 3261 sections 8.1.1, 16.3 and 18.3
 */
function checkHeaders(message: SipMessage): void {
  checkVias(message);
  checkSingle(message);
  if (message.callId === '') throw new SipError(400, 'Missing Call-ID');
  parseTagged(message, 'from');
  parseTagged(message, 'to');
  for (const name of ADDRESS_LISTS) checkAddresses(message, name);
  if (message.isRequest) checkOfRequest(message);
  else void message.cseq;
}

function checkVias(message: SipMessage): void {
  const topVia = readTopVia(message);
  if (topVia.version !== '2.0' || message.all('via').includes(''))
    throw new SipError(400, 'Bad Via');
  // The cookie alone identifies no transaction.
  if (topVia.params.get('branch') === BRANCH_COOKIE) throw new SipError(400, 'Bad Branch');
  const values = message.list('via');
  for (let i = 1; i < values.length; i++) parseVia(values[i] ?? '');
}

function readTopVia(message: SipMessage): Via {
  try {
    return message.via;
  } catch (error) {
    throw error instanceof SipError ? new SipError(0, 'Bad Via') : error;
  }
}

function checkSingle(message: SipMessage): void {
  const seen = new Set<string>();
  for (const [name] of message.headers) {
    if (seen.has(name) && SINGLE.has(name)) throw new SipError(400, `Multiple ${wireName(name)}`);
    seen.add(name);
  }
}

/** Checks an address header and its tag. */
function parseTagged(message: SipMessage, name: 'from' | 'to'): void {
  if (message[name].params.get('tag') === null)
    throw new SipError(400, `Bad ${wireName(name)} Tag`);
}

function checkAddresses(message: SipMessage, name: string): void {
  for (const line of message.all(name)) {
    if (name === 'contact' && line === '*') continue;
    for (const value of splitList(line)) parseNameAddr(value);
  }
}

function checkOfRequest(message: SipMessage): void {
  const { method } = message.cseq;
  if (method !== message.method) {
    if (!isKnownMethod(message.method)) throw new SipError(501, 'Not Implemented');
    throw new SipError(400, 'CSeq Method Mismatch');
  }
  const maxForwards = message.get('max-forwards');
  if (maxForwards !== undefined && parseDecimal(maxForwards, MAX_FORWARDS_MAX) === undefined) {
    throw new SipError(400, 'Bad Max-Forwards');
  }
}
