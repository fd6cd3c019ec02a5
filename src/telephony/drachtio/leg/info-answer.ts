/** Answers an INFO of the far end, which may be a digit. */
import type { SrfAnswer, SrfRequest } from '../carrier/srf.ts';

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
