/** Next hop of a request, and its location: protocols, addresses and ports for a URI, in order of preference. RFC 3263. */
import { lookup, resolveSrv } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { SipMessage } from '../message/message.ts';
import { ifSound, SipError } from '../message/status.ts';
import { parseNameAddr, parseUri, type SipUri } from '../message/uri.ts';
import { bareHost, defaultPortOf, type Endpoint, type Protocol } from './flow.ts';

/** Address, port and protocol of a next hop. */
export interface Target extends Endpoint {
  readonly protocol: Protocol;
  /** Host name of the URI, which the peer's certificate must have; undefined for an IP address. */
  readonly serverName?: string;
}

interface ServiceRecord extends WeightedServer {
  readonly name: string;
  readonly port: number;
}

/** DNS queries that SIP needs. An empty answer means no record. */
export interface Resolver {
  addresses(host: string): Promise<readonly string[]>;
  services(name: string): Promise<readonly ServiceRecord[]>;
}

/** No more places are tried for one request. */
const TARGETS_MAX = 4;

/** The system's own resolver. A missing name and a failing name server both give an empty result. */
export const systemResolver: Resolver = {
  addresses: async (host) => {
    const found = await lookup(host, { all: true }).catch(() => []);
    return found.map(({ address }) => address);
  },
  services: async (name) => await resolveSrv(name).catch(() => []),
};

/**
 * Resolves the targets of a URI.
 *
 * An IP address is used as it is. A name with a port is resolved by address records, one without by SRV records
 * first. The URI's transport decides the protocol, otherwise the first of `protocols`; TLS is for `transport=tls` and
 * `sips` alone.
 *
 * @param protocols available transports, preferred first.
 * @param random from 0 up to 1; draws among servers of the same priority by their weights.
 * @throws {SipError} 503 without a target.
 * @see RFC 3263 section 4
 */
export async function resolveTargets(
  uri: SipUri,
  protocols: readonly Protocol[],
  resolver: Resolver,
  random: () => number = Math.random,
): Promise<readonly Target[]> {
  const usable = usableProtocols(uri, protocols);
  const [favourite] = usable;
  const host = bareHost(uri.params.get('maddr') ?? uri.host);
  if (favourite === undefined || host === '') {
    throw new SipError(503, `Cannot reach "${uri.scheme}:${host}": no transport for it`);
  }
  if (isIP(host) !== 0) {
    return [{ protocol: favourite, address: host, port: uri.port ?? defaultPortOf(favourite) }];
  }
  const bySrv = uri.port === undefined ? await srvTargets(host, usable, { resolver, random }) : [];
  const targets =
    bySrv.length > 0
      ? bySrv
      : await addressTargets({ protocol: favourite, host, port: uri.port }, resolver);
  if (targets.length === 0) throw new SipError(503, `Cannot reach "${host}": no address for it`);
  const name = serverNameOf(uri);
  return targets.slice(0, TARGETS_MAX).map((target) => ({ ...target, ...name }));
}

/** The name that a peer's certificate must have to be the next hop of that URI; none for an IP address. */
export function serverNameOf({ host }: SipUri): Pick<Target, 'serverName'> {
  return isIP(bareHost(host)) === 0 ? { serverName: host } : {};
}

function usableProtocols(uri: SipUri, protocols: readonly Protocol[]): readonly Protocol[] {
  if (uri.scheme === 'tel') return [];
  const wanted = uri.params.get('transport')?.toUpperCase();
  // `sips` with `transport=tcp` is TLS over TCP. RFC 3261, 26.2.2.
  if (uri.scheme === 'sips') {
    const isStream = wanted === undefined || wanted === 'TCP' || wanted === 'TLS';
    return isStream ? protocols.filter((protocol) => protocol === 'TLS') : [];
  }
  return protocols.filter((protocol) =>
    wanted === undefined ? protocol !== 'TLS' : protocol === wanted,
  );
}

async function srvTargets(
  host: string,
  protocols: readonly Protocol[],
  { resolver, random }: { readonly resolver: Resolver; readonly random: () => number },
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const protocol of protocols) {
    const service = protocol === 'TLS' ? '_sips._tcp' : `_sip._${protocol.toLowerCase()}`;
    const records = await resolver.services(`${service}.${host}`);
    for (const { name, port } of inSrvOrder(records, random).slice(0, TARGETS_MAX)) {
      targets.push(...(await addressTargets({ protocol, host: name, port }, resolver)));
    }
  }
  return targets;
}

async function addressTargets(
  service: { protocol: Protocol; host: string; port: number | undefined },
  resolver: Resolver,
): Promise<Target[]> {
  const addresses = await resolver.addresses(service.host);
  const port = service.port ?? defaultPortOf(service.protocol);
  return addresses.map((address) => ({ protocol: service.protocol, address, port }));
}

/** Fields of an SRV record that decide the order. */
interface WeightedServer {
  readonly priority: number;
  /** Share of the first attempts among servers of the same priority. */
  readonly weight: number;
}

/**
 * Draws an order.
 *
 * @param random from 0 up to 1; drawn once a server.
 * @see RFC 2782, "Weight"
 */
export function inSrvOrder<Server extends WeightedServer>(
  servers: readonly Server[],
  random: () => number,
): readonly Server[] {
  const priorities = [...new Set(servers.map(({ priority }) => priority))].sort((a, b) => a - b);
  return priorities.flatMap((priority) =>
    drawn(
      servers.filter((server) => server.priority === priority),
      random,
    ),
  );
}

function drawn<Server extends WeightedServer>(
  servers: readonly Server[],
  random: () => number,
): readonly Server[] {
  // Servers without weight come first, which gives them a small chance: a draw of 0.
  const left = [...servers].sort((a, b) => Number(a.weight > 0) - Number(b.weight > 0));
  const order: Server[] = [];
  while (left.length > 0) {
    const sum = left.reduce((total, { weight }) => total + weight, 0);
    // A whole number from 0 to the sum, both included.
    let rest = Math.floor(random() * (sum + 1));
    const index = left.findIndex(({ weight }) => {
      rest -= weight;
      return rest <= 0;
    });
    order.push(...left.splice(Math.max(0, index), 1));
  }
  return order;
}

/** Next hop of a request: its first Route, otherwise its Request-URI. */
export function nextHopUri(request: SipMessage): string {
  const [route] = request.list('route');
  return route === undefined ? request.uri : parseNameAddr(route).uri;
}

/** URI of a Route; undefined for one that cannot be sent to. */
export function routeUri(route: string): SipUri | undefined {
  const uri = ifSound(() => parseUri(parseNameAddr(route).uri));
  return uri?.scheme === 'tel' ? undefined : uri;
}
