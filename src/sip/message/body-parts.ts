/** The parts of a body that has several; pure */
import { SipError } from './sip-error.ts';

/** One part of a body, or a body that is all of one part. */
export interface BodyPart {
  /** Value of Content-Type, with its parameters. */
  readonly contentType: string;
  /** Value of Content-Disposition; empty where there is none. */
  readonly disposition: string;
  readonly body: Buffer;
}

/** SIP-I has two or three. */
const PARTS_MAX = 16;

/** The headers of one part together. */
const PART_HEAD_BYTES_MAX = 4096;

const BOUNDARY = /;[ \t]*boundary[ \t]*=[ \t]*(?:"([^"\\]{1,70})"|([^\s";]{1,70}))/i;

const CRLF = Buffer.from('\r\n');

/** What a part is that does not say so. RFC 2046, 5.1. */
const DEFAULT_TYPE = 'text/plain';

/**
 * Reads a body of several parts, in their order; parts of parts are left as they are.
 *
 * @throws {SipError} 400 when its boundaries make no sense, or there are more than 16 parts.
 * @see RFC 2046 section 5.1.1
 */
export function readParts(contentType: string, body: Buffer): readonly BodyPart[] {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new SipError(400, 'Missing Boundary');
  // The line break before a delimiter belongs to it; the first may have none.
  const text = Buffer.concat([CRLF, body]);
  const parts: BodyPart[] = [];
  let delimiter = nextDelimiter(text, boundary, 0);
  while (!delimiter.isLast) {
    const next = nextDelimiter(text, boundary, delimiter.end - CRLF.length);
    if (parts.length === PARTS_MAX) throw new SipError(400, 'Too Many Body Parts');
    parts.push(readPart(text.subarray(delimiter.end, Math.max(next.start, delimiter.end))));
    delimiter = next;
  }
  return parts;
}

interface Delimiter {
  readonly start: number;
  /** Behind its line break. */
  readonly end: number;
  readonly isLast: boolean;
}

/** Looks for a whole line: one boundary may be the beginning of another. */
function nextDelimiter(text: Buffer, boundary: string, from: number): Delimiter {
  const line = Buffer.from(`\r\n--${boundary}`, 'latin1');
  for (let start = text.indexOf(line, from); start !== -1; start = text.indexOf(line, start + 1)) {
    const behind = start + line.length;
    if (text.toString('latin1', behind, behind + 2) === '--') {
      return { start, end: behind + 2, isLast: true };
    }
    const lineEnd = text.indexOf(CRLF, behind);
    const isBlank = lineEnd !== -1 && text.toString('latin1', behind, lineEnd).trim() === '';
    if (isBlank) return { start, end: lineEnd + CRLF.length, isLast: false };
  }
  throw new SipError(400, 'Missing Boundary');
}

function readPart(part: Buffer): BodyPart {
  const isHeadless = part.indexOf(CRLF) === 0;
  const headEnd = isHeadless ? 0 : part.indexOf('\r\n\r\n');
  const head = part.toString('latin1', 0, headEnd === -1 ? part.length : headEnd);
  if (head.length > PART_HEAD_BYTES_MAX) throw new SipError(400, 'Body Part Too Long');
  const bodyStart = headEnd + (isHeadless ? 2 : 4);
  return {
    contentType: headerOf(head, 'content-type') ?? DEFAULT_TYPE,
    disposition: headerOf(head, 'content-disposition') ?? '',
    body: headEnd === -1 ? Buffer.alloc(0) : part.subarray(bodyStart),
  };
}

function headerOf(head: string, name: string): string | undefined {
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}
