/** How an offer of the far end is answered, or put off. */
import type { SrfAnswer } from '../carrier/srf.ts';

/** @param contact our Contact as the call began with it: drachtio-server would write its own again. */
export function sendSdp(answer: SrfAnswer, body: string, contact: string | undefined): void {
  const headers = { 'Content-Type': 'application/sdp', ...withContact(contact) };
  answer.send(200, { body, headers });
}

/** Agrees to a change without a description. @param contact as for `sendSdp` */
export function sendOk(answer: SrfAnswer, contact: string | undefined): void {
  answer.send(200, { headers: withContact(contact) });
}

function withContact(contact: string | undefined): Record<string, string> {
  return contact === undefined ? {} : { Contact: contact };
}

/** An offer that comes before the one before it is answered: whoever sends it is asked to come back. RFC 3261, 14.2. */
export function refuseForNow(answer: SrfAnswer): void {
  answer.send(500, { headers: { 'Retry-After': '1' } });
}

/** An offer that meets one of ours. RFC 3311, 5.2. */
export function refuseGlare(answer: SrfAnswer): void {
  answer.send(491);
}
