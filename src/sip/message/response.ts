/** Responses made from the request they answer; pure */
import { SipMessage } from './message.ts';
import { faultOf } from './sip-error.ts';
import { reasonPhrase } from './status.ts';

/** Lines that every response has from its request, byte for byte. */
const COPIED = new Set(['via', 'from', 'to', 'call-id', 'cseq']);

/** Requests whose answer makes a dialog, and so needs the way it took. */
const DIALOG_METHODS = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'NOTIFY']);

/**
 * Makes the response to a request, which may be a broken one: lines that it lacks are left out.
 *
 * @param reason the standard phrase where none is given
 * @param toTag put on To where the request's has none; a 100 gets none (section 8.2.6.2)
 * @see RFC 3261 sections 8.2.6 and 12.1.1
 */
export function makeResponse(
  request: SipMessage,
  status: number,
  reason?: string,
  toTag?: string,
): SipMessage {
  const response = new SipMessage();
  response.status = status;
  response.reason = reason ?? reasonPhrase(status);

  const isRouteDue = status > 100 && status < 300 && DIALOG_METHODS.has(request.method);
  for (const line of request.headers) {
    const [name] = line;
    const isDue =
      COPIED.has(name) ||
      (name === 'timestamp' && status === 100) ||
      (name === 'record-route' && isRouteDue);
    if (isDue) response.headers.push(line);
  }
  if (status > 100 && toTag !== undefined && lacksToTag(request)) {
    response.set('to', `${request.get('to')};tag=${toTag}`);
  }
  return response;
}

/** A To that cannot be read is echoed as it came: whoever sent it will know it again. */
function lacksToTag(request: SipMessage): boolean {
  return faultOf(() => request.to) === undefined && request.toTag === '';
}
