/** Which part of the Internet, or of somebody's own network, an IP address belongs to; pure */
import { BlockList, isIP } from 'node:net';

/**
 * `public` is reachable by everybody; `loopback` is this machine; `private` is a network of the operator's own;
 * `never` is for no ordinary server: metadata services, link-local, multicast, documentation, translated addresses.
 */
export type AddressRange = 'public' | 'loopback' | 'private' | 'never';

/**
 * Each list is asked in this order, so that one address of a network may differ from the rest of it.
 *
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), and the manuals of the clouds for theirs
 */
const NETWORKS = [
  ['never', ['100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::/32', 'fd20:ce::/64']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']],
  [
    'never',
    [
      '0.0.0.0/8',
      '169.254.0.0/16',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/4',
      '240.0.0.0/4',
      '2001::/23',
      '2001:db8::/32',
      '2002::/16',
      '3fff::/20',
    ],
  ],
] as const;

const LISTS = NETWORKS.map(([range, networks]) => [range, blockListOf(networks)] as const);

/** All of IPv6 that anybody may be given; what lies outside, such as NAT64, is not asked further. */
const GLOBAL_IPV6 = blockListOf(['2000::/3']);

/**
 * Tells the range of an address.
 *
 * An IPv4 address inside an IPv6 one (`::ffff:a.b.c.d`) counts as the IPv4 address. Text that is no address, or names
 * an interface (`fe80::1%eth0`), is `never`.
 */
export function rangeOfAddress(address: string): AddressRange {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return 'never';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const found = LISTS.find(([, list]) => list.check(address, family));
  if (found !== undefined) return found[0];
  const isGlobal = family === 'ipv4' || isMapped(address) || GLOBAL_IPV6.check(address, family);
  return isGlobal ? 'public' : 'never';
}

const EVERY_IPV4 = blockListOf(['0.0.0.0/1', '128.0.0.0/1']);

/** The lists take `::ffff:a.b.c.d` for its IPv4 address. */
function isMapped(address: string): boolean {
  return EVERY_IPV4.check(address, 'ipv6');
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
