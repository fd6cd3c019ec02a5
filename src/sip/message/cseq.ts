/** The number and method that tell one request of a dialog from the next; pure */
import { consistsOf, endOfRun, parseDecimal, skipSpace, TOKEN } from './char-class.ts';
import { SipError } from './sip-error.ts';

export interface CSeq {
  readonly seq: number;
  readonly method: string;
}

/** @see RFC 3261 section 8.1.1.5: less than 2 to the power of 31 */
const SEQ_MAX = 0x7fffffff;

/**
 * Reads a CSeq value.
 *
 * @throws {SipError} 400 when the text is none.
 */
export function parseCSeq(text: string): CSeq {
  const numberStart = skipSpace(text, 0);
  const numberEnd = endOfRun(text, TOKEN, numberStart);
  const seq = parseDecimal(text.slice(numberStart, numberEnd), SEQ_MAX);
  const method = text.slice(skipSpace(text, numberEnd)).trimEnd();
  const isSpaced = skipSpace(text, numberEnd) > numberEnd;
  if (seq === undefined || !isSpaced || !consistsOf(method, TOKEN)) {
    throw new SipError(400, 'Bad CSeq');
  }
  return { seq, method };
}
