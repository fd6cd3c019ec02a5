/** Requests outside of any dialog, as our user agent makes them; pure */
import { SipMessage } from './message/message.ts';
import { parseNameAddr } from './message/name-addr.ts';
import type { Tokens } from './message/tokens.ts';
import { addParts, wireText } from './message-parts.ts';
import type { OutgoingRequest } from './outgoing.ts';
import { addAbilities } from './own-headers.ts';

const WITH_ABILITIES = new Set(['INVITE', 'OPTIONS', 'REGISTER']);

export interface NewRequestOptions {
  readonly request: Omit<OutgoingRequest, 'credentials' | 'onSent' | 'onProvisional'>;
  readonly tokens: Tokens;
  readonly product: string | undefined;
  /** From, where the request names none. */
  readonly ownAddress: string;
}

/**
 * Makes a request, all but its Via and Contact, which depend on the way it will take.
 *
 * @throws {SipError} 400 when From is no address.
 * @throws {TypeError} when the parts hold what no message may.
 */
export function newRequest({
  request,
  tokens,
  product,
  ownAddress,
}: NewRequestOptions): SipMessage {
  const { method, uri } = request;
  const message = new SipMessage();
  message.method = method;
  message.uri = wireText(uri);
  for (const route of request.route ?? []) message.add('route', wireText(route));
  message
    .add('max-forwards', 70)
    .add('from', withTag(wireText(request.from ?? ownAddress), tokens))
    .add('to', wireText(request.to ?? `<${uri}>`))
    .add('call-id', wireText(request.callId ?? tokens.callId()))
    .add('cseq', `${request.sequence ?? 1} ${method}`);
  if (WITH_ABILITIES.has(method)) addAbilities(message);
  if (product !== undefined) message.add('user-agent', product);
  addParts(message, request);
  return message;
}

function withTag(from: string, tokens: Tokens): string {
  return parseNameAddr(from).params.has('tag') ? from : `${from};tag=${tokens.tag()}`;
}
