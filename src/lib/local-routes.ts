/** Finds the address of this machine that packets to a far end leave from. */
import { createSocket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Clock } from './clock.ts';

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** A route may change while the server runs: a cable, a VPN. */
const KEPT_MS = 10_000;
const KEPT_MAX = 1024;

/** Nothing is sent there: the discard port of RFC 863. */
const ANY_PORT = 9;

/** Far ends whose own address is not known are taken to be outside: documentation addresses, which go the default way. */
const OUTSIDE = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const;

/** Whether an address stands for all addresses of this machine, and so cannot be sent to. */
export function isWildcard(address: string): boolean {
  return WILDCARDS.has(address);
}

/** Asks the system for the source address of a packet to `farEnd`; undefined where no route leads there. */
export type AskRoute = (farEnd: string) => string | undefined;

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
  // A missing route is told by this event, later; here it shows as an address that is not there.
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

/** For a machine without a route there: its first address that others can reach, else loopback. */
function anyAddress(isSix: boolean): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const reachable = all.find(
    ({ family, internal, address }) =>
      family === (isSix ? 'IPv6' : 'IPv4') && !internal && !isLinkLocal(address),
  );
  return reachable?.address ?? (isSix ? '::1' : '127.0.0.1');
}

/** RFC 3927 and RFC 4291, 2.5.6: addresses that mean something on one cable only. */
function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || address.toLowerCase().startsWith('fe80:');
}

/** IPv6 in brackets, once; names and IPv4 as they are. @see RFC 3986 section 3.2.2 */
export function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
