/** The headers that say who and where we are and what we can do; pure */
import type { SipMessage } from './message/message.ts';
import { SERVED_METHODS } from './message/method.ts';
import { faultOf } from './message/sip-error.ts';
import { parseUri } from './message/uri.ts';
import { SUPPORTED_EXTENSIONS } from './parser/request-check.ts';
import type { Flow } from './transport/flow.ts';
import { formatEndpoint } from './transport/flow.ts';
import { transportParam } from './transport/via-routing.ts';

export const ALLOW = SERVED_METHODS.join(', ');
export const SUPPORTED = SUPPORTED_EXTENSIONS.join(', ');

/** The value of Contact that reaches us the way this flow does. */
export function contactOf(flow: Flow, user?: string): string {
  const account = user === undefined || user === '' ? '' : `${user}@`;
  return `<sip:${account}${formatEndpoint(flow.local)}${transportParam(flow.protocol)}>`;
}

/** The user part of a URI; undefined where there is none, or the text is no such URI. */
export function userOf(uri: string): string | undefined {
  let user: string | undefined;
  faultOf(() => {
    user = parseUri(uri).user;
  });
  return user;
}

/** Says what we can do, where a peer must know it: in requests that make or change a session, and 2xx to them. */
export function addAbilities(message: SipMessage): void {
  message.add('allow', ALLOW).add('supported', SUPPORTED);
}
