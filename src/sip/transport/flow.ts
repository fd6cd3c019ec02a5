/** Flow to one peer: a UDP address as seen from one of our sockets, a TCP or TLS connection, or a WebSocket. */
import { urlHost } from '../../lib/local-routes.ts';
import { splitList } from '../message/grammar.ts';
import { formatVia, type SipMessage, type Via } from '../message/message.ts';
import { SipError } from '../message/status.ts';

/** Protocols that we open sockets for ourselves. */
export type ListenProtocol = 'UDP' | 'TCP' | 'TLS';

/** Protocols as Via names them. */
export type Protocol = ListenProtocol | 'WS' | 'WSS';

/** An IP address without brackets, and a port. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * Address of ours in Via and Contact: an IP address without brackets, never a wildcard.
 *
 * @param bound listening address of the socket; may be `0.0.0.0` or `::`.
 * @param farEnd the far end's IP address; empty while unknown.
 */
export type AddressFor = (bound: string, farEnd: string) => string;

/** A way to send messages to one peer. */
export interface Flow {
  readonly protocol: Protocol;
  /** True when the transport retransmits by itself, so that SIP must not. RFC 3261, 17. */
  readonly isReliable: boolean;
  readonly remote: Endpoint;
  /** Our address in Via and Contact. */
  readonly local: Endpoint;
  readonly isOpen: boolean;

  /**
   * Sends one whole message, in order, without waiting.
   *
   * @throws {SipError} 503 when the flow is closed or its peer has stopped reading.
   */
  send(bytes: Buffer): void;

  /**
   * Sends a keep-alive. A connection is closed when its peer has answered a keep-alive before, and is silent for 10 s
   * now. RFC 5626, 4.4.1.
   */
  keepAlive(): void;

  /**
   * Calls `listener` once when the connection closes; never for UDP.
   *
   * @returns removes the listener.
   */
  onClosed(listener: () => void): () => void;

  /** Closes a connection after its pending writes. No effect for UDP, whose socket is shared. */
  close(): void;
}

/** Keep-alive, which a single line break answers over a connection. RFC 5626, 4.4.1. */
export const PING: Buffer = Buffer.from('\r\n\r\n');

/** Answer to `PING`. */
export const PONG: Buffer = Buffer.from('\r\n');

/** An endpoint as Via and Contact write it: `192.0.2.1:5060` or `[2001:db8::1]:5060`. */
export function formatEndpoint({ address, port }: Endpoint): string {
  return `${urlHost(address)}:${port}`;
}

/** Whether one socket can reach both: IPv4 and IPv6 do not mix. */
export function isSameFamily(one: Endpoint, other: Endpoint): boolean {
  return bareHost(one.address).includes(':') === bareHost(other.address).includes(':');
}

/** A host of a URI or Via as sockets want it: without brackets. */
export function bareHost(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/** Makes a `SipError` 503 with protocol, address, port and remedy. */
export function listenError(
  protocol: ListenProtocol,
  { address, port }: { readonly address: string; readonly port: number },
  cause: NodeJS.ErrnoException,
): SipError {
  const setting = protocol === 'TLS' ? 'SIP_TLS_PORT' : 'SIP_PORT';
  const why = REASONS[cause.code ?? '']?.replace('SIP_PORT', setting) ?? cause.message;
  return new SipError(503, `Cannot listen on ${protocol} "${address}:${port}": ${why}`);
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or set SIP_PORT',
  EADDRNOTAVAIL: 'this machine has no such address; set SIP_HOST',
  EACCES: 'this user may not open it; set SIP_PORT to 1024 or more',
};

/** Default port of URIs and of Via. RFC 3261, 18.2.2 and 19.1.2. */
export function defaultPortOf(protocol: Protocol): number {
  return protocol === 'TLS' || protocol === 'WSS' ? 5061 : 5060;
}

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

/**
 * Destination of a response over UDP: the source address, and the port of the Via unless the peer asked for its
 * source port. `maddr` is ignored: it would let anyone direct our responses.
 *
 * @see RFC 3261 section 18.2.2, RFC 3581 section 4
 */
export function responseEndpoint(via: Via, source: Endpoint): Endpoint {
  if (via.params.has('rport')) return source;
  return { address: source.address, port: via.port ?? defaultPortOf('UDP') };
}

/** Via of a request of ours. */
export function ownVia(flow: Flow, branch: string): string {
  return `SIP/2.0/${flow.protocol} ${formatEndpoint(flow.local)};branch=${branch};rport`;
}

/**
 * Our address as the peer saw it, from its response; undefined where it does not say. RFC 3581: without `received`, a peer
 * that filled in `rport` found the address of our Via right.
 */
export function seenAddressOf(response: SipMessage): string | undefined {
  const { host, params } = response.via;
  const isChecked = (params.get('rport') ?? '') !== '';
  return params.get('received') ?? (isChecked ? host : undefined);
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
