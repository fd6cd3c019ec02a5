/** How an offer of the far end is answered, or put off. */
import type { SrfAnswer } from './srf.ts';

export function sendSdp(answer: SrfAnswer, body: string): void {
  answer.send(200, { body, headers: { 'Content-Type': 'application/sdp' } });
}

/** An offer that comes before the one before it is answered: whoever sends it is asked to come back. RFC 3261, 14.2. */
export function refuseForNow(answer: SrfAnswer): void {
  answer.send(500, { headers: { 'Retry-After': '1' } });
}

/** An offer that meets one of ours. RFC 3311, 5.2. */
export function refuseGlare(answer: SrfAnswer): void {
  answer.send(491);
}
