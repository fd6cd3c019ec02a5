/** DTMF by two methods, RTP (RFC 4733) and SIP INFO: reads INFO bodies, and drops the duplicates of a far end that sends both. */
import type { SrfAnswer, SrfRequest } from '../carrier/srf.ts';

/** A held key may arrive by one method when it is pressed, by the other when it is released. */
const APART_MS_MAX = 5_000;

/** More keys than are pressed within that time. */
const WAITING_MAX = 32;

interface Key {
  readonly digit: string;
  readonly atMs: number;
}

/** Duplicate filter of one leg. Report each key once per method that it arrives by. */
export class DtmfMethods {
  /** Keys that have arrived by one method only. */
  readonly #onlyByRtp: Key[] = [];
  readonly #onlyByInfo: Key[] = [];
  /** A far end that sent one key by both methods sends all keys so. */
  #sendsBoth = false;

  /**
   * Notes a key by INFO. Of a duplicate, the RTP event is used, because RTP also reaches other parties of the call.
   *
   * @param atMs monotonic time.
   * @returns whether the key is new.
   */
  byInfo(digit: string, atMs: number): boolean {
    if (this.#sendsBoth) return false;
    if (takeFrom(this.#onlyByRtp, digit, atMs)) this.#sendsBoth = true;
    else keepIn(this.#onlyByInfo, { digit, atMs });
    return !this.#sendsBoth;
  }

  /**
   * Notes a key by RTP, which its INFO may have overtaken.
   *
   * @param atMs monotonic time.
   * @returns whether the key is new.
   */
  byRtp(digit: string, atMs: number): boolean {
    const isTwin = takeFrom(this.#onlyByInfo, digit, atMs);
    if (isTwin) this.#sendsBoth = true;
    else if (!this.#sendsBoth) keepIn(this.#onlyByRtp, { digit, atMs });
    return !isTwin;
  }
}

/** Takes out the oldest such key, if it is not too old to be the same press. */
function takeFrom(keys: Key[], digit: string, atMs: number): boolean {
  const at = keys.findIndex((key) => key.digit === digit && atMs - key.atMs <= APART_MS_MAX);
  if (at >= 0) keys.splice(at, 1);
  return at >= 0;
}

function keepIn(keys: Key[], key: Key): void {
  keys.push(key);
  if (keys.length > WAITING_MAX) keys.shift();
}

/** Answers an INFO. @returns its digit; undefined without one. */
export function answerInfo(request: SrfRequest, answer: SrfAnswer): string | undefined {
  const body = request.body ?? '';
  const type = request.get('content-type') ?? '';
  if (body !== '' && !isDtmf(type)) {
    answer.send(415, { headers: { Accept: DTMF_TYPES.join(', ') } });
    return undefined;
  }
  answer.send(200);
  return digitOf(body);
}

const DIGIT = /^[0-9*#A-D]$/;

/** Numbers of the keys that have no digit, as event codes write them. RFC 4733, 3.2. */
const EVENT_CODES: Readonly<Record<string, string>> = {
  '10': '*',
  '11': '#',
  '12': 'A',
  '13': 'B',
  '14': 'C',
  '15': 'D',
};

/** Media types of DTMF digits: not standardised by an RFC. */
const DTMF_TYPES = ['application/dtmf-relay', 'application/dtmf'] as const;

/** Whether the body of an INFO is a digit at all. */
export function isDtmf(contentType: string): boolean {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return (DTMF_TYPES as readonly string[]).includes(type);
}

/**
 * Digit in the body of an INFO: `Signal=5` on a line (dtmf-relay), or the digit alone (dtmf).
 *
 * @returns one of 0-9 * # A-D; undefined without one.
 */
export function digitOf(body: string): string | undefined {
  const [, signal] = /^\s*signal\s*=\s*(\S{1,2})\s*$/im.exec(body.slice(0, 256)) ?? [];
  const text = (signal ?? body.slice(0, 16).trim()).toUpperCase();
  const digit = EVENT_CODES[text] ?? text;
  return DIGIT.test(digit) ? digit : undefined;
}
