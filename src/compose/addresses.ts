/** Composition root: addresses that the server listens on and advertises. */
import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { LocalRoutes } from '../lib/local-routes.ts';
import type { Logger } from '../lib/logger.ts';
import { askStun, parseStunServer } from '../lib/stun-client.ts';
import { SipError } from '../sip/message/status.ts';
import { parseUri } from '../sip/message/uri.ts';
import type { AddressFor } from '../sip/transport/flow.ts';
import { resolveTargets, systemResolver } from '../sip/transport/next-hop.ts';
import { OurAddresses } from '../telephony/trunks/our-addresses.ts';
import type { FindFault } from '../telephony/trunks/trunk-registry.ts';
import { proxyUriOf, type Trunk } from '../telephony/trunks/trunks.ts';

/** @param parts.onChange called when a name has another address than before. */
export function openAddresses(parts: {
  readonly config: Config;
  readonly trunks: readonly Trunk[];
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}): OurAddresses {
  const { PUBLIC_ADDRESS, SIP_HOST, STUN_SERVER } = parts.config;
  const server = STUN_SERVER === undefined ? undefined : parseStunServer(STUN_SERVER);
  return new OurAddresses({
    ...parts,
    publicAddress: PUBLIC_ADDRESS,
    locateProxy,
    askStun: server && (() => askStun(server, { from: SIP_HOST, randomBytes })),
  });
}

/** The address for Via and Contact of our SIP engine. Logs once when PUBLIC_ADDRESS is missing behind a NAT. */
export function sipAddressFor(
  addresses: Pick<OurAddresses, 'advertisedTo' | 'isUnreachableFor'>,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): AddressFor {
  const routes = new LocalRoutes({ clock });
  let hasWarned = false;
  return (bound, farEnd) => {
    const told = addresses.advertisedTo(farEnd) ?? routes.towards(bound, farEnd);
    if (!hasWarned && farEnd !== '' && addresses.isUnreachableFor(farEnd, told)) {
      hasWarned = true;
      log.warn({ farEnd, told }, 'a far end outside is told a private address: set PUBLIC_ADDRESS');
    }
    return told;
  };
}

/** Addresses of the SIP sockets: one for each family where `SIP_HOST` is the wildcard `::`. */
export function sipHostsOf({ SIP_HOST }: Pick<Config, 'SIP_HOST'>): readonly string[] {
  return SIP_HOST === '::' ? ['0.0.0.0', '::'] : [SIP_HOST];
}

/** Address of the RTP sockets; media is IPv4 only. */
export function mediaHostOf({ SIP_HOST }: Pick<Config, 'SIP_HOST'>): string {
  return SIP_HOST === '::' ? '0.0.0.0' : SIP_HOST;
}

/** Finds the fault of trunks whose proxy is an IPv6 address, where our SIP has no socket of IPv6. */
export function unreachableFault({
  SIP_HOST,
  TELEPHONY,
}: Pick<Config, 'SIP_HOST' | 'TELEPHONY'>): FindFault {
  const hasSix = TELEPHONY !== 'embedded' || SIP_HOST === '::';
  const message =
    'is an IPv6 address, and SIP listens on IPv4 only; set SIP_HOST=::, or give the IPv4 address of the proxy';
  return ({ proxy }) => (hasSix || !isIPv6(proxy.host) ? undefined : { path: 'proxy', message });
}

/** Resolves a trunk's proxy. @returns its addresses, the preferred one first. */
async function locateProxy(trunk: Trunk): Promise<readonly string[]> {
  try {
    const targets = await resolveTargets(
      parseUri(proxyUriOf(trunk)),
      ['UDP', 'TCP', 'TLS'],
      systemResolver,
    );
    return targets.map(({ address }) => address);
  } catch (error) {
    // The name does not resolve; a call through the trunk reports it.
    if (error instanceof SipError) return [];
    throw error;
  }
}
