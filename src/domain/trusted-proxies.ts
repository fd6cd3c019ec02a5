/** Trusted proxies: the addresses whose X-Forwarded-For is believed; pure */
import { BlockList, isIP } from 'node:net';

/** Tells whether an address belongs to a trusted proxy; false for text that is no address. */
export type IsTrustedProxy = (address: string) => boolean;

/** Trusts no proxy, for a server without one in front. */
export const trustNoProxy: IsTrustedProxy = () => false;

const NETWORK = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/;

/**
 * Whether the text is an IP address, or a network in CIDR form that is not the whole Internet: with that, every
 * client could name itself as it likes.
 */
export function isProxyNetwork(text: string): boolean {
  const [, address = '', bits] = NETWORK.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return false;
  return bits === undefined || (Number(bits) > 0 && Number(bits) <= bitsOf(version));
}

/**
 * Makes the list of proxies from texts that `isProxyNetwork` has checked one by one. An IPv4 address inside an IPv6 one
 * (`::ffff:a.b.c.d`) counts as the IPv4 address.
 */
export function trustedProxies(networks: readonly string[]): IsTrustedProxy {
  if (networks.length === 0) return trustNoProxy;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const version = isIP(address);
    list.addSubnet(address, Number(bits ?? bitsOf(version)), familyOf(version));
  }
  return (address) => {
    const version = address.includes('%') ? 0 : isIP(address);
    return version !== 0 && list.check(address, familyOf(version));
  };
}

function bitsOf(version: number): number {
  return version === 4 ? 32 : 128;
}

function familyOf(version: number): 'ipv4' | 'ipv6' {
  return version === 4 ? 'ipv4' : 'ipv6';
}
