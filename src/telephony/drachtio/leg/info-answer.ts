/** Answers an INFO of the far end, which may be a digit. */

import type { SrfAnswer, SrfRequest } from '../carrier/srf.ts';
import { DTMF_TYPES, digitOf, isDtmf } from './dtmf-info.ts';

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
