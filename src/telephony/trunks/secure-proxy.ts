/** The proxy by which a carrier is reached over TLS where a URI has an IP address, which no certificate proves; pure */
import { isIP } from 'node:net';
import { hostOfUri, sourcesOf } from './trunk-table.ts';
import { proxyUriOf, type Trunk } from './trunks.ts';

/**
 * URI of the proxy of the trunk that a TLS next hop belongs to: the trunk whose sources have its IP address, else the only
 * one with TLS.
 *
 * @param nextHop URI, or Route value.
 * @returns undefined where the next hop has a name, is not over TLS, or belongs to no trunk.
 */
export function secureProxyFor(trunks: readonly Trunk[], nextHop: string): string | undefined {
  const [, uri = nextHop] = /<([^>]*)>/.exec(nextHop) ?? [];
  const family = isIP(hostOfUri(uri));
  if (family === 0 || !isSecure(uri)) return undefined;
  const named = trunks.filter(({ proxy }) => proxy.transport === 'tls' && isIP(proxy.host) === 0);
  const trunk =
    named.find((each) => sourcesOf(each).check(hostOfUri(uri), family === 4 ? 'ipv4' : 'ipv6')) ??
    (named.length === 1 ? named[0] : undefined);
  return trunk && proxyUriOf(trunk);
}

function isSecure(uri: string): boolean {
  return /^sips:/i.test(uri) || /;transport=tls(?=[;?]|$)/i.test(uri);
}
