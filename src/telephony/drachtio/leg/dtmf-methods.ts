/** Tells apart the keys of a far end that sends each of them twice: in its sound (RFC 4733) and by SIP INFO; pure */
import type { SrfAnswer, SrfRequest } from '../carrier/srf.ts';

/** A key that is held down comes by one way when it is pressed, by the other when it is let go. */
const APART_MS_MAX = 5_000;

/** More keys than anyone presses meanwhile. */
const WAITING_MAX = 32;

interface Key {
  readonly digit: string;
  readonly atMs: number;
}

/** One for each leg. A key is to be told to it once for each way that it comes by. */
export class DtmfMethods {
  /** Keys that came by one way alone so far. */
  readonly #onlyByRtp: Key[] = [];
  readonly #onlyByInfo: Key[] = [];
  /** Whoever has sent one key both ways sends all of them so. */
  #sendsBoth = false;

  /**
   * Takes a key that came by INFO. What a far end that sends both ways has in its sound is kept rather than this: it
   * crosses to other parties by itself.
   *
   * @param atMs the time by a clock that never goes back.
   * @returns whether it is a key of its own.
   */
  byInfo(digit: string, atMs: number): boolean {
    if (this.#sendsBoth) return false;
    if (takeFrom(this.#onlyByRtp, digit, atMs)) this.#sendsBoth = true;
    else keepIn(this.#onlyByInfo, { digit, atMs });
    return !this.#sendsBoth;
  }

  /**
   * Takes a key that came in the sound, where it may have been overtaken by its INFO.
   *
   * @param atMs the time by a clock that never goes back.
   * @returns whether it is a key of its own.
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

/** @returns the digit; undefined where there is none in it. */
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

/** Media types of digits; there is no RFC for them, only custom. */
const DTMF_TYPES = ['application/dtmf-relay', 'application/dtmf'] as const;

/** Whether the body of an INFO is a digit at all. */
export function isDtmf(contentType: string): boolean {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return (DTMF_TYPES as readonly string[]).includes(type);
}

/**
 * The digit in the body of an INFO: `Signal=5` on a line of its own (dtmf-relay), or the digit alone (dtmf).
 *
 * @returns one of 0-9 * # A-D; undefined when the body has none.
 */
export function digitOf(body: string): string | undefined {
  const [, signal] = /^\s*signal\s*=\s*(\S{1,2})\s*$/im.exec(body.slice(0, 256)) ?? [];
  const text = (signal ?? body.slice(0, 16).trim()).toUpperCase();
  const digit = EVENT_CODES[text] ?? text;
  return DIGIT.test(digit) ? digit : undefined;
}
