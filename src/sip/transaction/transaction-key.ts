/** How a request finds its server transaction, and how repeats that took another way are seen; pure */
import type { SipMessage } from '../message/message.ts';
import type { MessageIds } from '../message/message-ids.ts';
import { BRANCH_COOKIE } from '../message/tokens.ts';
import type { Via } from '../message/via.ts';

/**
 * The server transaction that a request belongs to. ACK and CANCEL name the INVITE's.
 *
 * Keys outlive their message, so they are joined: text put together by `+` or a template holds on to its pieces, and
 * each piece to the whole message.
 *
 * Peers of RFC 2543 make no unique branch: theirs is told apart by call, tags and number.
 *
 * @see RFC 3261 section 17.2.3
 */
export function serverKey(ids: MessageIds, via: Via, method: string): string {
  const branch = via.params.get('branch') ?? '';
  const port = via.port ?? '';
  if (branch.startsWith(BRANCH_COOKIE) && branch.length > BRANCH_COOKIE.length) {
    return [branch, via.host, port, method].join('|');
  }
  return ['2543', ids.callId, ids.fromTag, ids.sequence, via.host, port, method].join('|');
}

/** The client transaction that a response belongs to. @see RFC 3261 section 17.1.3 */
export function clientKey(branch: string, method: string): string {
  return [branch, method].join('|');
}

/** What a request has in common with one that came another way. @see RFC 3261 section 8.2.2.2 */
export function mergeKey(ids: MessageIds, { method }: SipMessage): string {
  return [ids.callId, ids.fromTag, ids.sequence, method].join('|');
}

/** Whether a request is of the call, and from the side, that this merge key was made for, whatever its number. */
export function isOrigin(key: string, { callId, fromTag }: MessageIds): boolean {
  return key.startsWith([callId, fromTag, ''].join('|'));
}

/** The method whose transaction an ACK or CANCEL speaks of. */
export function transactionMethod(method: string): string {
  return method === 'ACK' ? 'INVITE' : method;
}
