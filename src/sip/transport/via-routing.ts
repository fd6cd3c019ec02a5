/** Via processing: stamps the source into received requests, and routes responses by it; pure */
import { splitList } from '../message/grammar.ts';
import type { SipMessage } from '../message/message.ts';
import { faultOf } from '../message/status.ts';
import { formatVia, type Via } from '../message/via.ts';
import { bareHost, type Endpoint, type Flow, formatEndpoint, type Protocol } from './flow.ts';

/** Default port of a Via, for responses. RFC 3261, 18.2.2. */
export const DEFAULT_PORT = 5060;

/**
 * Adds the actual source to the top Via of a request.
 *
 * @returns the changed top Via.
 * @see RFC 3261 section 18.2.1, RFC 3581 section 4
 */
export function stampReceived(request: SipMessage, source: Endpoint): Via {
  const via = request.via;
  const wantsPort = via.params.has('rport');
  if (!wantsPort && bareHost(via.host) === source.address) return via;

  const params = new Map(via.params).set('received', source.address);
  if (wantsPort) params.set('rport', String(source.port));
  const stamped = { ...via, params };
  replaceTopVia(request, formatVia(stamped));
  return stamped;
}

/** Same as `stampReceived`; undefined for an unreadable top Via. */
export function stampIfSound(request: SipMessage, source: Endpoint): Via | undefined {
  let via: Via | undefined;
  faultOf(() => {
    via = stampReceived(request, source);
  });
  return via;
}

/**
 * Destination of a response over UDP: the source address, and the port of the Via unless the peer asked for its
 * source port. `maddr` is ignored: it would let anyone direct our responses.
 *
 * @see RFC 3261 section 18.2.2, RFC 3581 section 4
 */
export function responseEndpoint(via: Via, source: Endpoint): Endpoint {
  if (via.params.has('rport')) return source;
  return { address: source.address, port: via.port ?? DEFAULT_PORT };
}

/** Via of a request of ours. */
export function ownVia(flow: Flow, branch: string): string {
  return `SIP/2.0/${flow.protocol} ${formatEndpoint(flow.local)};branch=${branch};rport`;
}

/** The parameter of a Contact or Route that keeps requests off UDP; empty for UDP. */
export function transportParam(protocol: Protocol): string {
  if (protocol === 'UDP') return '';
  // A WebSocket is `ws` in a URI with or without TLS; only Via distinguishes them. RFC 7118, 5.2.
  return protocol === 'WSS' ? ';transport=ws' : `;transport=${protocol.toLowerCase()}`;
}

/** A Via line may hold several values; only the first one is changed. */
function replaceTopVia(request: SipMessage, top: string): void {
  const index = request.headers.findIndex(([name]) => name === 'via');
  const line = request.headers[index];
  if (line === undefined) return;
  const others = splitList(line[1]).slice(1);
  request.headers[index] = ['via', [top, ...others].join(', ')];
}
