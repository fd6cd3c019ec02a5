/** Composition root: which addresses we listen on, and which ones far ends are told. */
import { isIPv6 } from 'node:net';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { LocalRoutes } from '../lib/local-routes.ts';
import type { Logger } from '../lib/logger.ts';
import { SipError } from '../sip/message/status.ts';
import { parseUri } from '../sip/message/uri.ts';
import type { AddressFor } from '../sip/transport/flow.ts';
import { resolveTargets, systemResolver } from '../sip/transport/next-hop.ts';
import { OurAddresses } from '../telephony/trunks/our-addresses.ts';
import type { Trunk } from '../telephony/trunks/trunks.ts';
import { proxyUriOf } from '../telephony/trunks/trunks.ts';

/** @param parts.onChange called when a name has another address than before. */
export function openAddresses(parts: {
  readonly config: Config;
  readonly trunks: readonly Trunk[];
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}): OurAddresses {
  return new OurAddresses({
    ...parts,
    publicAddress: parts.config.PUBLIC_ADDRESS,
    locateProxy,
  });
}

/** For Via and Contact of our own SIP engine. Says once in the log when the setting for a NAT is missing. */
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

/** Where SIP listens: a socket for each family where `SIP_HOST` is the wildcard of both. */
export function sipHostsOf({ SIP_HOST }: Pick<Config, 'SIP_HOST'>): readonly string[] {
  return SIP_HOST === '::' ? ['0.0.0.0', '::'] : [SIP_HOST];
}

/** Where RTP of the embedded plane is bound: sound is IPv4 only. */
export function mediaHostOf({ SIP_HOST }: Pick<Config, 'SIP_HOST'>): string {
  if (SIP_HOST === '::1') return '127.0.0.1';
  return isIPv6(SIP_HOST) ? '0.0.0.0' : SIP_HOST;
}

/** The addresses that requests to a trunk's proxy go to, the first choice first. */
async function locateProxy(trunk: Trunk): Promise<readonly string[]> {
  try {
    const targets = await resolveTargets(
      parseUri(proxyUriOf(trunk)),
      ['UDP', 'TCP'],
      systemResolver,
    );
    return targets.map(({ address }) => address);
  } catch (error) {
    // Its name leads nowhere: a call that goes there will say so.
    if (error instanceof SipError) return [];
    throw error;
  }
}
