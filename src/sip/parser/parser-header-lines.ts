/** Reads header lines, folded ones unfolded; pure */
import { consistsOf, isSpace, TOKEN } from '../message/char-class.ts';
import { canonicalName } from '../message/header-name.ts';
import type { HeaderLine, SipMessage } from '../message/message.ts';
import { SipError } from '../message/sip-error.ts';
import { HEADER_BYTES_MAX, HEADER_LINES_MAX } from './parser-limits.ts';

/**
 * Reads the lines of `head` from `start` into the message. Lines that are no header are left out.
 *
 * @returns the first thing that was wrong, if anything was.
 * @see RFC 3261 section 7.3.1
 */
export function readHeaderLines(
  head: string,
  start: number,
  message: SipMessage,
): SipError | undefined {
  let fault: SipError | undefined;
  let lineCount = 0;
  for (let at = start; at < head.length; ) {
    const end = endOfFolded(head, at);
    const header = readHeader(head, at, end);
    if (header === undefined || end - at > HEADER_BYTES_MAX) {
      fault ??= new SipError(400, 'Bad Header Line');
    } else if (++lineCount > HEADER_LINES_MAX) {
      return fault ?? new SipError(400, 'Too Many Header Lines');
    } else message.headers.push(header);
    at = end + 2;
  }
  return fault;
}

/** Where the header that begins at `start` ends: the CRLF that no folded line follows. */
function endOfFolded(head: string, start: number): number {
  for (let from = start; ; ) {
    const end = head.indexOf('\r\n', from);
    if (end === -1) return head.length;
    if (!isSpace(head.charCodeAt(end + 2))) return end;
    from = end + 2;
  }
}

/** One header; undefined where the text is none. */
function readHeader(head: string, start: number, end: number): HeaderLine | undefined {
  const colon = head.indexOf(':', start);
  if (colon === -1 || colon >= end) return undefined;
  let nameEnd = colon;
  while (nameEnd > start && isSpace(head.charCodeAt(nameEnd - 1))) nameEnd--;
  if (!consistsOf(head, TOKEN, start, nameEnd)) return undefined;

  const value = readValue(head, colon + 1, end);
  return value === undefined ? undefined : [canonicalName(head.slice(start, nameEnd)), value];
}

/** The value between two places, each fold one space, as the grammar reads it; undefined where a bare line break is in it. */
function readValue(head: string, start: number, end: number): string | undefined {
  const text = trimmed(head, start, end);
  if (!text.includes('\r') && !text.includes('\n')) return text;
  if (!text.includes('\r\n')) return undefined;
  const unfolded = text
    .split('\r\n')
    .map((line) => trimmed(line, 0, line.length))
    .join(' ')
    .trim();
  return /[\r\n]/.test(unfolded) ? undefined : unfolded;
}

/** Unlike `trim`, leaves line breaks that stand alone where they are. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}
