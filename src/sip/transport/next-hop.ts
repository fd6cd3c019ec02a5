/** Server location: protocols, addresses and ports for a URI, in order of preference. RFC 3263. */
import { lookup, resolveSrv } from 'node:dns/promises';
import { isIP } from 'node:net';
import { SipError } from '../message/status.ts';
import type { SipUri } from '../message/uri.ts';
import { bareHost, DEFAULT_PORT, type Endpoint, type Protocol } from './flow.ts';

/** Address, port and protocol of a next hop. */
export interface Target extends Endpoint {
  readonly protocol: Protocol;
}

interface ServiceRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** DNS queries that SIP needs. An empty answer means no record. */
export interface Resolver {
  addresses(host: string): Promise<readonly string[]>;
  services(name: string): Promise<readonly ServiceRecord[]>;
}

/** No more places are tried for one request. */
const TARGETS_MAX = 4;

/** The system's own resolver. A name that does not exist and a server that fails read the same: nothing. */
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
 * first. The URI's transport decides the protocol, otherwise the first of `protocols`.
 *
 * @param protocols available transports, preferred first.
 * @throws {SipError} 503 without a target.
 * @see RFC 3263 section 4
 */
export async function resolveTargets(
  uri: SipUri,
  protocols: readonly Protocol[],
  resolver: Resolver,
): Promise<readonly Target[]> {
  const usable = usableProtocols(uri, protocols);
  const [favourite] = usable;
  const host = bareHost(uri.params.get('maddr') ?? uri.host);
  if (favourite === undefined || host === '') {
    throw new SipError(503, `Cannot reach "${uri.scheme}:${host}": no transport for it`);
  }
  if (isIP(host) !== 0) {
    return [{ protocol: favourite, address: host, port: uri.port ?? DEFAULT_PORT }];
  }
  const bySrv = uri.port === undefined ? await srvTargets(host, usable, resolver) : [];
  const targets =
    bySrv.length > 0
      ? bySrv
      : await addressTargets({ protocol: favourite, host, port: uri.port }, resolver);
  if (targets.length === 0) throw new SipError(503, `Cannot reach "${host}": no address for it`);
  return targets.slice(0, TARGETS_MAX);
}

function usableProtocols(uri: SipUri, protocols: readonly Protocol[]): readonly Protocol[] {
  if (uri.scheme !== 'sip') return [];
  const wanted = uri.params.get('transport')?.toUpperCase();
  return wanted === undefined ? protocols : protocols.filter((protocol) => protocol === wanted);
}

async function srvTargets(
  host: string,
  protocols: readonly Protocol[],
  resolver: Resolver,
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const protocol of protocols) {
    const records = await resolver.services(`_sip._${protocol.toLowerCase()}.${host}`);
    const sorted = [...records].sort((a, b) => a.priority - b.priority || b.weight - a.weight);
    for (const { name, port } of sorted.slice(0, TARGETS_MAX)) {
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
  const port = service.port ?? DEFAULT_PORT;
  return addresses.map((address) => ({ protocol: service.protocol, address, port }));
}
