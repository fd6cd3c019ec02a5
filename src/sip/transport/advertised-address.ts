/** The address that peers are told when we listen on all of them. */
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** What Via and Contact say for a listening address: an address that can be answered to. */
export function advertisedAddress(listen: {
  readonly address: string;
  readonly advertisedAddress?: string;
}): string {
  if (listen.advertisedAddress !== undefined) return listen.advertisedAddress;
  if (!UNSPECIFIED.has(listen.address)) return listen.address;
  const family = isIPv6(listen.address) ? 'IPv6' : 'IPv4';
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const reachable = all.find(
    (each) => each.family === family && !each.internal && !isLinkLocal(each),
  );
  return reachable?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1');
}

/** RFC 3927 and RFC 4291, 2.5.6: addresses that mean something on one cable only. */
function isLinkLocal({ address }: { readonly address: string }): boolean {
  return address.startsWith('169.254.') || address.toLowerCase().startsWith('fe80:');
}
