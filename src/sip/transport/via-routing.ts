/** What a server writes into the top Via of a request, and where that Via sends the answers; pure */
import { splitList } from '../message/grammar.ts';
import type { SipMessage } from '../message/message.ts';
import { faultOf } from '../message/status.ts';
import { formatVia, type Via } from '../message/via.ts';
import { bareHost, type Endpoint, type Flow, formatEndpoint, type Protocol } from './flow.ts';

/** Where answers go when a Via names no port. RFC 3261, 18.2.2. */
export const DEFAULT_PORT = 5060;

/**
 * Notes in the request's top Via where it truly came from.
 *
 * @returns the top Via as it now stands.
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

/** As `stampReceived`; undefined where the top Via cannot be read. */
export function stampIfSound(request: SipMessage, source: Endpoint): Via | undefined {
  let via: Via | undefined;
  faultOf(() => {
    via = stampReceived(request, source);
  });
  return via;
}

/**
 * Where the answers to a datagram go: back to its source, to the port that the Via names where the
 * peer did not ask for the source port. `maddr` is not obeyed: it would let anyone aim our answers.
 *
 * @see RFC 3261 section 18.2.2, RFC 3581 section 4
 */
export function responseEndpoint(via: Via, source: Endpoint): Endpoint {
  if (via.params.has('rport')) return source;
  return { address: source.address, port: via.port ?? DEFAULT_PORT };
}

/** The Via that we put above a request of ours. */
export function ownVia(flow: Flow, branch: string): string {
  return `SIP/2.0/${flow.protocol} ${formatEndpoint(flow.local)};branch=${branch};rport`;
}

/** The parameter of a Contact or Route that keeps requests off UDP; empty for UDP. */
export function transportParam(protocol: Protocol): string {
  if (protocol === 'UDP') return '';
  // Secured or not, a WebSocket is `ws` in a URI; only Via tells them apart. RFC 7118, 5.2.
  return protocol === 'WSS' ? ';transport=ws' : `;transport=${protocol.toLowerCase()}`;
}

/** The first line may hold several Vias; only the first of them is ours to change. */
function replaceTopVia(request: SipMessage, top: string): void {
  const index = request.headers.findIndex(([name]) => name === 'via');
  const line = request.headers[index];
  if (line === undefined) return;
  const others = splitList(line[1]).slice(1);
  request.headers[index] = ['via', [top, ...others].join(', ')];
}
