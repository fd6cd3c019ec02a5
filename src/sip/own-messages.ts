/** Requests and responses of our user agent: their options as applications pass them, Contact, Allow, Supported, identifiers. */

import type { DigestClient } from './digest.ts';
import { canonicalName } from './message/grammar.ts';
import { BRANCH_COOKIE, makeResponse, SipMessage } from './message/message.ts';
import { ifSound } from './message/status.ts';
import { parseNameAddr, parseUri } from './message/uri.ts';
import { ALLOW, SUPPORTED_EXTENSIONS } from './parser/request-check.ts';
import { type Flow, formatEndpoint, transportParam } from './transport/flow.ts';

const WITH_ABILITIES = new Set(['INVITE', 'OPTIONS', 'REGISTER']);

interface NewRequestOptions {
  readonly request: Omit<OutgoingRequest, 'onSent' | 'onProvisional'>;
  readonly tokens: Tokens;
  readonly product: string | undefined;
  /** From of a request without one. */
  readonly ownAddress: string;
}

/**
 * Makes a request without Via and Contact, which depend on its flow.
 *
 * @throws {SipError} 400 for an invalid From.
 * @throws {TypeError} for invalid parts, such as a line break in a header.
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
  if (WITH_ABILITIES.has(method)) addCapabilities(message);
  if (product !== undefined) message.add('user-agent', product);
  addParts(message, request);
  return message;
}

function withTag(from: string, tokens: Tokens): string {
  return parseNameAddr(from).params.has('tag') ? from : `${from};tag=${tokens.tag()}`;
}

const SUPPORTED = SUPPORTED_EXTENSIONS.join(', ');

/** Value of Contact for requests that return over this flow; `sips` where the Request-URI is. RFC 3261, 8.1.1.8. */
export function contactOf(flow: Flow, user: string | undefined, requestUri: string): string {
  const account = user === undefined || user === '' ? '' : `${user}@`;
  const place = `${account}${formatEndpoint(flow.local)}`;
  if (flow.protocol === 'TLS' && /^sips:/i.test(requestUri)) return `<sips:${place}>`;
  return `<sip:${place}${transportParam(flow.protocol)}>`;
}

/** User part of a URI; undefined without one, and for any other text. */
export function userOf(uri: string): string | undefined {
  return ifSound(() => parseUri(uri).user);
}

/** Adds Allow and Supported, which requests that create or change a session carry, and their 2xx. */
export function addCapabilities(message: SipMessage): void {
  message.add('allow', ALLOW).add('supported', SUPPORTED);
}

/** Headers that only the engine writes: an application may not set them. */
const ENGINE_HEADERS = new Set(['via', 'call-id', 'cseq', 'content-length', 'from', 'to']);

const NAME = /^[A-Za-z0-9\-.!%*_+`'~]+$/;

/** Characters that would end a header line. */
const LINE_BREAK = /[\r\n\0]/;

const DEFAULT_CONTENT_TYPE = 'application/sdp';

/**
 * Adds headers and body. Replaces a header that is there already.
 *
 * @throws {TypeError} for an invalid name, a header that the engine writes, or a line break in a value.
 */
export function addParts(message: SipMessage, parts: MessageParts): void {
  addHeaders(message, parts.headers ?? {});
  if (parts.body === undefined || parts.body.length === 0) return;
  message.body = Buffer.isBuffer(parts.body) ? parts.body : Buffer.from(parts.body, 'utf8');
  if (parts.contentType !== undefined) message.set('content-type', wireText(parts.contentType));
  else if (message.get('content-type') === undefined) {
    message.set('content-type', DEFAULT_CONTENT_TYPE);
  }
}

/**
 * Wire text: the octets of the text's UTF-8, one character each.
 *
 * @throws {TypeError} for a line break.
 */
function wireText(text: string): string {
  if (LINE_BREAK.test(text)) throw new TypeError('Cannot send SIP text: holds a line break');
  return Buffer.from(text, 'utf8').toString('latin1');
}

function addHeaders(message: SipMessage, headers: HeaderValues): void {
  for (const [name, value] of Object.entries(headers)) {
    const canonical = canonicalName(name);
    if (!NAME.test(name)) throw new TypeError('Cannot send SIP header: name is no token');
    if (ENGINE_HEADERS.has(canonical)) {
      throw new TypeError(`Cannot send SIP header "${name}": the engine writes it`);
    }
    const ours = canonical === 'supported' ? message.list(canonical) : [];
    message.delete(canonical);
    const given = typeof value === 'string' ? [value] : value;
    // An application adds its extensions to the engine's.
    const values = ours.length === 0 ? given : [[...ours, ...given].join(', ')];
    for (const each of values) message.add(canonical, wireText(each));
  }
}

/** Options of {@link newResponse}. */
interface ResponseOptions {
  readonly request: SipMessage;
  readonly status: number;
  /** Tag for a To without one. */
  readonly tag?: string;
  /** Flow that the request arrived on. */
  readonly flow: Flow;
  readonly product: string | undefined;
  readonly parts: ResponseParts;
}

/** Methods whose 2xx creates or retargets a dialog, and therefore carries Contact. RFC 3261, 12.1.1 and 12.2.2. */
const WITH_CONTACT = new Set(['INVITE', 'UPDATE', 'REFER', 'NOTIFY', 'SUBSCRIBE']);
const ABILITIES_IN_RESPONSE_TO = new Set(['INVITE', 'UPDATE', 'OPTIONS']);

/** @throws {TypeError} when a part is not allowed in a message. */
export function newResponse(options: ResponseOptions): SipMessage {
  const { request, status, parts, flow, product } = options;
  const response = makeResponse(request, status, parts.reason, options.tag);
  const isPositive = status > 100 && status < 300;
  if (isPositive && WITH_CONTACT.has(request.method)) {
    response.add('contact', contactOf(flow, userOf(request.uri), request.uri));
  }
  if (status >= 180 && status < 300 && ABILITIES_IN_RESPONSE_TO.has(request.method))
    addCapabilities(response);
  if (product !== undefined) response.add('server', product);
  addParts(response, parts);
  return response;
}

/** Source of unpredictable bytes; `crypto.randomBytes` in production. */
export type RandomBytes = (count: number) => Uint8Array;

/** Random branches, tags and Call-IDs. */
export class Tokens {
  readonly #randomBytes: RandomBytes;

  constructor(randomBytes: RandomBytes) {
    this.#randomBytes = randomBytes;
  }

  /** 96 random bits after the magic cookie, so that responses cannot be forged off the path. */
  branch(): string {
    return BRANCH_COOKIE + this.#hex(12);
  }

  /** 64 bits; RFC 3261, 19.3 asks for 32. */
  tag(): string {
    return this.#hex(8);
  }

  callId(): string {
    return this.#hex(16);
  }

  /** First CSeq or RSeq: small, so that counting up never overflows. RFC 3261, 8.1.1.5; RFC 3262, 3. */
  sequence(): number {
    const [high = 0, low = 0] = this.#randomBytes(2);
    return 1 + high * 256 + low;
  }

  /** Random number from 0 (inclusive) to 1 (exclusive), for back-off jitter. */
  fraction(): number {
    const [high = 0, low = 0] = this.#randomBytes(2);
    return (high * 256 + low) / 65_536;
  }

  #hex(bytes: number): string {
    return Buffer.from(this.#randomBytes(bytes)).toString('hex');
  }
}

/** Values by header name; several values become several lines. */
export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

/** Parts that may be added to any message. The user agent writes Content-Length, and refuses CR and LF in values. */
export interface MessageParts {
  readonly headers?: HeaderValues;
  readonly body?: string | Buffer;
  /** Media type of the body; `application/sdp` when not given. */
  readonly contentType?: string;
}

/** Reason phrase, headers and body of a response. */
export interface ResponseParts extends MessageParts {
  /** Reason phrase; the usual one of the status when not given. */
  readonly reason?: string;
}

/** A request outside of any dialog. */
export interface OutgoingRequest extends MessageParts {
  readonly method: string;
  readonly uri: string;
  /** Value of From; a missing tag is added. Default: the user agent's own address. */
  readonly from?: string;
  /** Value of To; default: the request's URI. */
  readonly to?: string;
  /** User part of our Contact; default: that of From. */
  readonly contactUser?: string;
  /** Leaves Contact out, as a REGISTER that only asks does. RFC 3261, 10.2.3. */
  readonly withoutContact?: boolean;
  readonly callId?: string;
  /** Sequence number of the first try; a retry with credentials counts on. */
  readonly sequence?: number;
  /** Route header values, such as `<sip:proxy.example.com;lr>`; the first one is the next hop. */
  readonly route?: readonly string[];
  /** Answers 401 and 407 challenges, and keeps the nonces for later requests to the same server. */
  readonly digest?: DigestClient;
  /** Each request as sent, retries with credentials and other targets included. */
  readonly onSent?: (request: SipMessage, flow: Flow) => void;
  readonly onProvisional?: (response: SipMessage) => void;
}

/** A new call to be placed. */
export interface OutgoingInvite
  extends Omit<OutgoingRequest, 'method' | 'onProvisional' | 'onSent'> {
  /**
   * `automatic`: the ACK is sent for each 2xx. `manual`: the application calls `dialog.ack()`, and the user agent
   * only retransmits it.
   */
  readonly acknowledge?: 'automatic' | 'manual';
  /** Cancels the call after ringing for this long; default 180,000. */
  readonly ringTimeoutMs?: number;
}

/** A re-INVITE to be sent. */
export interface OutgoingReinvite extends MessageParts {
  readonly acknowledge?: 'automatic' | 'manual';
  readonly onSent?: (request: SipMessage, flow: Flow) => void;
  readonly onProvisional?: (response: SipMessage) => void;
}

/** A request from a peer that waits for the application's answer. */
export interface ServerRequest {
  readonly request: SipMessage;
  readonly flow: Flow;

  /**
   * Answers. A second final response is ignored.
   *
   * @returns the response as sent.
   * @throws {TypeError} when a part is not allowed in a message, such as CR or LF in a header.
   */
  respond(status: number, parts?: ResponseParts): SipMessage;
}

/** INVITE inside a dialog. A 2xx is retransmitted until its ACK. */
export interface ServerReinvite extends ServerRequest {
  /** The ACK of our 2xx; null when there was none: another status, BYE first, or silence for 64*T1. */
  readonly acknowledged: Promise<SipMessage | null>;
}
