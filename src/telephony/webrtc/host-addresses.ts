/** The addresses by which a browser may reach this machine. */
import { lookup } from 'node:dns/promises';
import { type Clock, within } from '../../lib/clock.ts';
import { interfaceAddresses, isLoopback } from '../../lib/local-routes.ts';

const LOOPBACK = '127.0.0.1';

/** A browser tries them all; more than that is no machine but a network. */
const ADDRESSES_MAX = 16;

/** A known name resolves within this time. */
const LOOKUP_MS_MAX = 1_000;

/**
 * Addresses for ICE candidates: loopback if pages are served on it only; otherwise all addresses of the machine, and
 * that of its public name.
 *
 * @param listening listening address of the web server.
 * @param known host of the public URL.
 */
export async function addressesFor(
  listening: string,
  known: string,
  clock: Clock,
): Promise<readonly string[]> {
  if (isLoopback(listening) && isLoopback(known)) return [LOOPBACK];
  const found = lookup(known, { family: 4, all: true });
  // Without a name server the machine's own addresses must do.
  const others = await within(clock, LOOKUP_MS_MAX, found).catch(() => []);
  return hostAddresses(others.map(({ address }) => address));
}

/**
 * Reachable IPv4 addresses of this machine, or loopback without one.
 *
 * @param others other IPv4 addresses that lead here, such as that of a NAT.
 */
export function hostAddresses(others: readonly string[] = []): readonly string[] {
  const own = interfaceAddresses()
    // RFC 3927: addresses that mean something on one cable only.
    .filter(({ family, internal, address }) => {
      return family === 'IPv4' && !internal && !address.startsWith('169.254.');
    })
    .map(({ address }) => address);
  const known = others.filter((address) => !isLoopback(address));
  const all = [...new Set([...own, ...known])].slice(0, ADDRESSES_MAX);
  return all.length > 0 ? all : [LOOPBACK];
}
