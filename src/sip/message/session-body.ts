/** Session description in a body: all of the body, one of its parts, or nothing; pure */
import type { SipMessage } from './message.ts';
import { ifSound, SipError } from './status.ts';

/** Media type of a session description. */
export const SESSION_TYPE = 'application/sdp';

/** Types of body that can describe a session, as Accept lists them. RFC 5621, 3.1. */
export const SESSION_TYPES = `${SESSION_TYPE}, multipart/mixed, multipart/alternative`;

/** Methods whose body is always a session description; bodies of other methods belong to the application. */
const SESSION_METHODS = new Set(['INVITE', 'UPDATE', 'PRACK', 'ACK']);

/** Nesting limit of multipart bodies. */
const DEPTH_MAX = 3;

/** The session description in a body. */
export interface SessionBody {
  /** Undefined without a session description. */
  readonly sdp: Buffer | undefined;
  /** False when the sender requires support for a body part that we do not support. */
  readonly isUnderstood: boolean;
}

/** Whether the bodies of this method's requests and responses describe a session. */
export function describesSession(method: string): boolean {
  return SESSION_METHODS.has(method);
}

/** The type without its parameters, in lower case. */
export function mediaType(value: string): string {
  const [type = ''] = value.split(';', 1);
  return type.replace(/[ \t]/g, '').toLowerCase();
}

/** RFC 3261, section 20.11: a body marked so may be ignored. */
export function isOptional(disposition: string): boolean {
  return /;[ \t]*handling[ \t]*=[ \t]*optional/i.test(disposition);
}

/**
 * Finds the session description in a message with a body.
 *
 * Next to a description, a part without a handling parameter counts as optional: carriers add ISUP and location
 * bodies without one, and the default of RFC 3261, 20.11 would cost their calls.
 *
 * @throws {SipError} 400 for a malformed multipart body.
 * @see RFC 5621
 */
export function sessionBodyOf(message: SipMessage): SessionBody {
  const contentType = message.get('content-type') ?? '';
  const disposition = message.get('content-disposition') ?? '';
  const { sdp, handling } = readHandling({ contentType, disposition, body: message.body }, 0);
  const isUnderstood = handling === 'optional' || (sdp !== undefined && handling !== 'required');
  return { sdp, isUnderstood: isUnderstood || isOptional(disposition) };
}

/** Message whose body is the session description alone, for applications that do not read multipart bodies. */
export function withPlainSession(message: SipMessage): SipMessage {
  const contentType = message.get('content-type') ?? SESSION_TYPE;
  if (message.body.length === 0 || mediaType(contentType) === SESSION_TYPE) return message;
  if (message.status >= 300 || !describesSession(message.method || message.cseq.method)) {
    return message;
  }
  const plain = message.clone().delete('content-type');
  plain.body = Buffer.alloc(0);
  // Responses and ACK cannot be refused: a malformed body counts as no description.
  const sdp = ifSound(() => sessionBodyOf(message).sdp);
  if (sdp === undefined) return plain;
  plain.body = sdp;
  return plain.set('content-type', SESSION_TYPE);
}

interface ReadPart {
  readonly sdp: Buffer | undefined;
  /** Handling of unsupported parts: `required` or `optional` where the sender specifies it. */
  readonly handling: 'required' | 'optional' | 'unsaid';
}

function readHandling(part: BodyPart, depth: number): ReadPart {
  const type = mediaType(part.contentType);
  if (type === SESSION_TYPE) return { sdp: part.body, handling: 'optional' };
  if (isOptional(part.disposition)) return { sdp: undefined, handling: 'optional' };
  if (type.startsWith('multipart/') && depth < DEPTH_MAX) return readSeveral(part, type, depth);
  const isRequired = /;[ \t]*handling[ \t]*=[ \t]*required/i.test(part.disposition);
  return { sdp: undefined, handling: isRequired ? 'required' : 'unsaid' };
}

/** multipart/alternative: the last supported part counts; otherwise the first description. RFC 2046, 5.1.4. */
function readSeveral(part: BodyPart, type: string, depth: number): ReadPart {
  const parts = readParts(part.contentType, part.body).map((each) => readHandling(each, depth + 1));
  const described = parts.filter(({ sdp }) => sdp !== undefined);
  const isAlternative = type === 'multipart/alternative';
  const [first] = described;
  if (isAlternative && first !== undefined) return described.at(-1) ?? first;
  const has = (handling: ReadPart['handling']) => parts.some((each) => each.handling === handling);
  const handling = has('required') ? 'required' : has('unsaid') ? 'unsaid' : 'optional';
  return { sdp: first?.sdp, handling };
}

/** One part of a body, or a body that is all of one part. */
export interface BodyPart {
  /** Value of Content-Type, with its parameters. */
  readonly contentType: string;
  /** Value of Content-Disposition; empty without one. */
  readonly disposition: string;
  readonly body: Buffer;
}

/** SIP-I has two or three. */
const PARTS_MAX = 16;

/** The headers of one part together. */
const PART_HEAD_BYTES_MAX = 4096;

const BOUNDARY = /;[ \t]*boundary[ \t]*=[ \t]*(?:"([^"\\]{1,70})"|([^\s";]{1,70}))/i;

const CRLF = Buffer.from('\r\n');

/** Media type of a part without Content-Type. RFC 2046, 5.1. */
const DEFAULT_TYPE = 'text/plain';

/**
 * Splits a multipart body into its parts, in order; nested multiparts are left as they are.
 *
 * @throws {SipError} 400 for malformed boundaries, or more than 16 parts.
 * @see RFC 2046 section 5.1.1
 */
export function readParts(contentType: string, body: Buffer): readonly BodyPart[] {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new SipError(400, 'Missing Boundary');
  // A delimiter includes the line break before it, which the first one may lack.
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
  /** Index after its line break. */
  readonly end: number;
  readonly isLast: boolean;
}

/** Matches a whole line only: one boundary may be a prefix of another. */
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
