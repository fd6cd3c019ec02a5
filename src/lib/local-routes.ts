/** IP addresses: the local one that packets to a far end leave from, this machine's own, and the range that one belongs to. */
import { createSocket } from 'node:dgram';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { type Clock, cached } from './clock.ts';

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** A route may change while the server runs: a cable, a VPN. */
const KEPT_MS = 10_000;
const KEPT_MAX = 1024;

/** Discard port of RFC 863; nothing is sent to it. */
const ANY_PORT = 9;

/** Far ends whose own address is not known are taken to be outside: documentation addresses, which go the default way. */
const OUTSIDE = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const;

/** Whether an address stands for all addresses of this machine, and so cannot be sent to. */
function isWildcard(address: string): boolean {
  return WILDCARDS.has(address);
}

/** Asks the system for the source address of a packet to `farEnd`; undefined where no route leads there. */
export type AskRoute = (farEnd: string) => string | undefined;

/** This machine's source address for each far end, as the routing table says; cached. */
export class LocalRoutes {
  readonly #clock: Clock;
  readonly #ask: AskRoute;
  readonly #known = new Map<string, { readonly address: string; readonly untilMs: number }>();

  constructor({ clock, ask = askRoute }: { readonly clock: Clock; readonly ask?: AskRoute }) {
    this.#clock = clock;
    this.#ask = ask;
  }

  /**
   * The address that a far end reaches us at without a NAT between: `bound`, or, where that is a wildcard, the one that
   * the routing table chooses.
   *
   * @param bound IP address that a socket listens on.
   * @param farEnd IP address; the default route counts where it is of the other family, or none.
   * @returns never a wildcard.
   */
  towards(bound: string, farEnd: string): string {
    if (!isWildcard(bound)) return bound;
    const isSix = isIPv6(bound);
    const isUsable = isSix ? isIPv6(farEnd) : isIPv4(farEnd);
    const target = isUsable ? farEnd : OUTSIDE[isSix ? 'ipv6' : 'ipv4'];
    const nowMs = this.#clock.nowMs();
    const known = this.#known.get(target);
    if (known !== undefined && nowMs < known.untilMs) return known.address;
    const address = this.#ask(target) ?? anyAddress(isSix);
    if (this.#known.size >= KEPT_MAX) this.#known.clear();
    this.#known.set(target, { address, untilMs: nowMs + KEPT_MS });
    return address;
  }
}

/** Connecting a datagram socket sends nothing, and makes the system choose the source address. */
function askRoute(farEnd: string): string | undefined {
  const family = isIPv6(farEnd) ? 6 : 4;
  const socket = createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    // Without a name to look up, the connection stands when `connect` returns.
    lookup: (host, _options, done) => done(null, host, family),
  });
  // A missing route is reported by this event, later; here the address is undefined.
  socket.on('error', () => undefined);
  try {
    socket.connect(ANY_PORT, farEnd);
    socket.remoteAddress();
    const { address } = socket.address();
    return isWildcard(address) ? undefined : address;
  } catch {
    // Not connected: no route leads there.
    return undefined;
  } finally {
    socket.close();
  }
}

/** Address for a machine without a route there: the first one that others can reach, else loopback. */
function anyAddress(isSix: boolean): string {
  const reachable = interfaceAddresses().find(
    ({ family, internal, address }) =>
      family === (isSix ? 'IPv6' : 'IPv4') && !internal && !isLinkLocal(address),
  );
  return reachable?.address ?? (isSix ? '::1' : '127.0.0.1');
}

/** The addresses of all interfaces of this machine, loopback included. */
export function interfaceAddresses(): readonly NetworkInterfaceInfo[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
}

/** RFC 3927 and RFC 4291, 2.5.6: addresses that are valid on one link only. */
function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || address.toLowerCase().startsWith('fe80:');
}

/** IPv6 in brackets, once; names and IPv4 as they are. @see RFC 3986 section 3.2.2 */
export function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** The host of URLs to a server of this machine that listens on `host`: a wildcard is no address to connect to. */
export function localUrlHost(host: string): string {
  if (!isWildcard(host)) return urlHost(host);
  return isIPv6(host) ? '[::1]' : '127.0.0.1';
}

/** Whether a name is this machine's and never asked of name servers. @see RFC 6761, section 6.3 */
export function isLocalName(name: string): boolean {
  const bare = name.replace(/\.$/, '').toLowerCase();
  return bare === 'localhost' || bare.endsWith('.localhost');
}

/** Whether a host is this machine and no other can call it so. @param host Name or address; IPv6 with or without brackets. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return isLocalName(bare) || rangeOfAddress(bare) === 'loopback';
}

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

/** Global unicast IPv6. Addresses outside it that no list has, such as NAT64, count as `never`. */
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

/** Interfaces come and go seldom, and strangers ask often. */
const OWN_KEPT_MS = 2000;

/**
 * Compares with the addresses of the interfaces; reads their list at most every two seconds.
 *
 * A packet from outside cannot have such a source: Linux drops it (martian source, `accept_local` is off).
 */
export function ownAddressCheck(clock: Clock): (address: string) => boolean {
  const ownAddresses = cached(
    () => new Set(interfaceAddresses().map((each) => each.address.toLowerCase())),
    { keptMs: OWN_KEPT_MS, clock },
  );
  return (address) => ownAddresses().has(address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, ''));
}
