/** How a request finds its server transaction, and how repeats that took another way are seen; pure */
import type { SipMessage } from './message.ts';
import type { MessageIds } from './message-ids.ts';
import { BRANCH_COOKIE } from './tokens.ts';
import type { Via } from './via.ts';

/**
 * The server transaction that a request belongs to. ACK and CANCEL name the INVITE's.
 *
 * Peers of RFC 2543 make no unique branch: theirs is told apart by call, tags and number.
 *
 * @see RFC 3261 section 17.2.3
 */
export function serverKey(ids: MessageIds, via: Via, method: string): string {
  const branch = via.params.get('branch') ?? '';
  const sentBy = `${via.host}:${via.port ?? ''}`;
  if (branch.startsWith(BRANCH_COOKIE) && branch.length > BRANCH_COOKIE.length) {
    return `${branch}|${sentBy}|${method}`;
  }
  return `2543|${ids.callId}|${ids.fromTag}|${ids.sequence}|${sentBy}|${method}`;
}

/** The client transaction that a response belongs to. @see RFC 3261 section 17.1.3 */
export function clientKey(branch: string, method: string): string {
  return `${branch}|${method}`;
}

/** What a request has in common with one that came another way. @see RFC 3261 section 8.2.2.2 */
export function mergeKey(ids: MessageIds, { method }: SipMessage): string {
  return `${ids.callId}|${ids.fromTag}|${ids.sequence} ${method}`;
}

/** The method whose transaction an ACK or CANCEL speaks of. */
export function transactionMethod(method: string): string {
  return method === 'ACK' ? 'INVITE' : method;
}
