/** Who a request without a key is counted as; pure */
import { isIP } from 'node:net';
import { type IsTrustedProxy, trustNoProxy } from '../../domain/trusted-proxies.ts';
import type { ApiContext } from '../api-env.ts';

/** What is known of where a request comes from. */
export interface RequestSource {
  /** The socket's other end; undefined when it is already gone. */
  readonly remoteAddress: string | undefined;
  /** The header `X-Forwarded-For`, several of them joined by commas in the order of their lines. */
  readonly forwardedFor: string | undefined;
}

/**
 * Finds the address of the client behind the trusted proxies: the right-most of X-Forwarded-For that is not one of them.
 *
 * Entries left of it come from the client or from unknown proxies, and are ignored;
 * nothing of the header is, unless the socket's other end is itself trusted. Where a proxy wrote no address
 * (`unknown`), the client counts as that proxy.
 */
export function clientAddressOf(
  { remoteAddress, forwardedFor }: RequestSource,
  isTrusted: IsTrustedProxy,
): string | undefined {
  if (remoteAddress === undefined || !isTrusted(remoteAddress)) return remoteAddress;
  const hops = (forwardedFor ?? '').split(',');
  let address = remoteAddress;
  while (isTrusted(address)) {
    const before = addressOfHop(hops.pop() ?? '');
    if (before === undefined) return address;
    address = before;
  }
  return address;
}

/** The address of a request's client; undefined when the connection is already gone. */
export function clientAddress(
  context: ApiContext,
  isTrusted: IsTrustedProxy = trustNoProxy,
): string | undefined {
  const remoteAddress = context.env.incoming?.socket.remoteAddress;
  const forwardedFor = context.req.header('x-forwarded-for');
  return clientAddressOf({ remoteAddress, forwardedFor }, isTrusted);
}

/** Some proxies write the port too, and then IPv6 in brackets. */
const HOP = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?|(.+))$/;

function addressOfHop(text: string): string | undefined {
  const [, bracketed, beforePort, whole] = HOP.exec(text.trim()) ?? [];
  const address = bracketed ?? beforePort ?? whole ?? '';
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Names the client behind a socket address: IPv4 whole, IPv6 by its first 64 bits, because every subscriber has
 * that many addresses to choose from.
 *
 * @see RFC 6177
 */
export function clientOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return 'unknown';
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [address = ''] = remoteAddress.split('%');
  return `${firstGroups(address.toLowerCase()).slice(0, 4).join(':')}::/64`;
}

/** The groups of an IPv6 address, with the ones that `::` stands for. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  const zeros = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after];
}
