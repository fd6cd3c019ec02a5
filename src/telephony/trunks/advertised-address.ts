/** Chooses the address of ours for a far end's SIP and RTP: local, a trunk's, or the public one; pure */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { rangeOfAddress } from '../../lib/local-routes.ts';

/** Values that `isAdvertisable` allows, for messages. */
export const ADVERTISED_ADDRESS_EXPECTED = 'an IPv4 address, a host name, or auto';

/** RFC 3927: one cable, never through a NAT. */
const LINK_LOCAL = listOf(['169.254.0.0/16']);

/** Addresses that no far end can send to: 0.0.0.0/8, multicast, reserved. */
const UNREACHABLE = listOf(['0.0.0.0/8', '224.0.0.0/3']);

const NAME = /^(?=.{1,253}$)(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*\.?$/;

/** Whether the text can be `PUBLIC_ADDRESS` or a trunk's `advertisedAddress`. */
export function isAdvertisable(text: string): boolean {
  if (isIPv4(text)) return !UNREACHABLE.check(text, 'ipv4');
  return NAME.test(text) && !/^[\d.]+$/.test(text);
}

interface AddressChoice<Address> {
  /** IP address of the far end; an empty one counts as outside. */
  readonly farEnd: string;
  /** The networks that this machine's own interfaces are in. */
  readonly ownNetworks: BlockList;
  /** IPv4 set for the far end's trunk. */
  readonly trunkAddress: Address | undefined;
  /** IPv4 of `PUBLIC_ADDRESS`. */
  readonly publicAddress: Address | undefined;
}

/**
 * Chooses the address.
 *
 * | Far end | Address |
 * |---|---|
 * | this machine, link-local, a network of our interfaces | local |
 * | other private networks: RFC 1918, shared (CGNAT, RFC 6598) | the trunk's, else local |
 * | outside | the trunk's, else the public one, else local |
 *
 * @returns undefined for the local address: the source address of our packets to the far end.
 */
export function advertisedAddressFor<Address>(choice: AddressChoice<Address>): Address | undefined {
  const { farEnd, ownNetworks, trunkAddress, publicAddress } = choice;
  const place = placeOfFarEnd(farEnd, ownNetworks);
  switch (place) {
    case 'neighbour':
      return undefined;
    case 'private':
      return trunkAddress;
    case 'outside':
      return trunkAddress ?? publicAddress;
    default:
      return place satisfies never;
  }
}

/** Network of a far end: the three rows of the table above. */
export type NetworkPlace = 'neighbour' | 'private' | 'outside';

/** Network of an IP address. IPv6 counts as a neighbour, because only IPv4 is advertised. */
export function placeOfFarEnd(address: string, ownNetworks: BlockList): NetworkPlace {
  const farEnd = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIP(farEnd) === 6) return 'neighbour';
  if (!isIPv4(farEnd)) return 'outside';
  const range = rangeOfAddress(farEnd);
  const isNextToUs = [LINK_LOCAL, ownNetworks].some((list) => list.check(farEnd, 'ipv4'));
  if (range === 'loopback' || isNextToUs) return 'neighbour';
  return range === 'private' ? 'private' : 'outside';
}

/** Makes a list of IPv4 networks in CIDR form. */
export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), 'ipv4');
  }
  return list;
}
