/** Reads a whole message from octets, strictly; pure */
import { BadMessageError } from '../message/bad-message-error.ts';
import { parseDecimal } from '../message/char-class.ts';
import { SipMessage } from '../message/message.ts';
import { faultOf, SipError } from '../message/sip-error.ts';
import { checkHeaders } from './parser-check.ts';
import { readHeaderLines } from './parser-header-lines.ts';
import { HEAD_BYTES_MAX, MESSAGE_BYTES_MAX } from './parser-limits.ts';
import { readStartLine } from './parser-start-line.ts';

const CRLF_CRLF = Buffer.from('\r\n\r\n');

/** A message without its body yet, and the first thing found wrong with it. */
export interface MessageHead {
  readonly message: SipMessage;
  readonly fault: SipError | undefined;
}

/**
 * Reads one message: a datagram, or what a stream framed.
 *
 * In a datagram a missing Content-Length means "to the end", and octets behind the body are ignored;
 * in a stream (`stream: true`) a missing one is an error.
 *
 * @throws {BadMessageError} with the status to answer with, or 0 for silence.
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
 * Reads the start line and headers, without the empty line behind them.
 *
 * @param head one character an octet (latin1).
 * @throws {BadMessageError} when not even the start line makes sense.
 */
export function parseHead(head: string): MessageHead {
  if (head.length > HEAD_BYTES_MAX) throw new BadMessageError(0, 'Headers Too Large');
  const lineEnd = head.indexOf('\r\n');
  const startLineEnd = lineEnd === -1 ? head.length : lineEnd;
  const message = new SipMessage();

  const lineFault = faultOf(() => readStartLine(head.slice(0, startLineEnd), message));
  if (lineFault?.status === 0) throw new BadMessageError(0, lineFault.message);
  const headerFault = readHeaderLines(head, startLineEnd + 2, message);
  const checkFault = faultOf(() => checkHeaders(message));
  const isUnanswerable = checkFault?.status === 0;
  const fault = isUnanswerable ? checkFault : (lineFault ?? headerFault ?? checkFault);
  return { message, fault };
}

/**
 * Takes the body from the octets behind the head.
 *
 * @throws {BadMessageError} when head or length are wrong.
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

/** The length that the message gives for its body: undefined where none, null where unusable. */
export function contentLength(message: SipMessage): number | undefined | null {
  let lengthBytes: number | undefined | null;
  for (const [name, value] of message.headers) {
    if (name !== 'content-length') continue;
    if (lengthBytes !== undefined) return null;
    lengthBytes = parseDecimal(value, MESSAGE_BYTES_MAX) ?? null;
  }
  return lengthBytes;
}

/** Line breaks before a message keep connections alive and mean nothing (section 7.5). */
function skipLineBreaks(bytes: Buffer): number {
  let start = 0;
  while (bytes[start] === 0x0d && bytes[start + 1] === 0x0a) start += 2;
  return start;
}
