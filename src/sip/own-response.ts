/** Responses as our user agent makes them: with its Contact, abilities and name where they belong; pure */
import type { SipMessage } from './message/message.ts';
import { makeResponse } from './message/response.ts';
import { addParts } from './message-parts.ts';
import type { ResponseParts } from './outgoing.ts';
import { addAbilities, contactOf, userOf } from './own-headers.ts';
import type { Flow } from './transport/flow.ts';

export interface ResponseOptions {
  readonly request: SipMessage;
  readonly status: number;
  /** Tag for To, where the request has none. */
  readonly tag?: string;
  /** Where the request came from. */
  readonly flow: Flow;
  readonly product: string | undefined;
  readonly parts: ResponseParts;
}

/** Answers to these make or move a dialog, so they say where we are. RFC 3261, 12.1.1 and 12.2.2. */
const WITH_CONTACT = new Set(['INVITE', 'UPDATE', 'REFER', 'NOTIFY', 'SUBSCRIBE']);
const WITH_ABILITIES = new Set(['INVITE', 'UPDATE', 'OPTIONS']);

/** @throws {TypeError} when the parts hold what no message may. */
export function newResponse(options: ResponseOptions): SipMessage {
  const { request, status, parts, flow, product } = options;
  const response = makeResponse(request, status, parts.reason, options.tag);
  const isPositive = status > 100 && status < 300;
  if (isPositive && WITH_CONTACT.has(request.method)) {
    response.add('contact', contactOf(flow, userOf(request.uri)));
  }
  if (status >= 180 && status < 300 && WITH_ABILITIES.has(request.method)) addAbilities(response);
  if (product !== undefined) response.add('server', product);
  addParts(response, parts);
  return response;
}
