/** Finds the trunk that a call belongs to: by where it came from, or by the number it goes out from; pure */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { addNetwork, type Trunk } from './trunks.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

export class TrunkTable {
  readonly trunks: readonly Trunk[];
  readonly #loopback = listOf(LOOPBACK);

  constructor(trunks: readonly Trunk[]) {
    this.trunks = trunks;
  }

  /**
   * Whether a host may ring us: one that some trunk allows, or this machine itself while there is no trunk at all.
   *
   * @param sourceAddress IP address that the packet came from, never one that a header claims.
   */
  isAllowed(sourceAddress: string): boolean {
    if (this.trunks.length === 0) return isOn(this.#loopback, sourceAddress);
    return this.trunks.some((trunk) => this.#allows(trunk, sourceAddress));
  }

  /** The trunk of an incoming call; of several on one address, the one that has the number. */
  ofIncoming(sourceAddress: string, calledNumber: string): Trunk | undefined {
    const possible = this.trunks.filter((trunk) => this.#allows(trunk, sourceAddress));
    return possible.find((trunk) => hasNumber(trunk, calledNumber)) ?? possible[0];
  }

  /** The first trunk that may call from the number. */
  ofOutgoing(number: string): Trunk | undefined {
    return this.trunks.find((trunk) => hasNumber(trunk, number));
  }

  #allows(trunk: Trunk, sourceAddress: string): boolean {
    return isOn(sourcesOf(trunk), sourceAddress);
  }
}

/** Made once for each trunk. */
const lists = new WeakMap<Trunk, BlockList>();

/** The addresses that the trunk's carrier sends from. */
export function sourcesOf(trunk: Trunk): BlockList {
  const list = lists.get(trunk) ?? listOf(trunk.allowedSources);
  lists.set(trunk, list);
  return list;
}

/** Whether one of the trunk's numbers, or beginnings of numbers, is this one. */
export function hasNumber(trunk: Trunk, number: string): boolean {
  return trunk.numbers.some((pattern) =>
    pattern.endsWith('*') ? number.startsWith(pattern.slice(0, -1)) : number === pattern,
  );
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) addNetwork(list, text);
  return list;
}

/** An IPv4 address in IPv6's clothes counts as IPv4: that is how a socket for both shows it. */
function isOn(list: BlockList, address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(plain)) return list.check(plain, 'ipv4');
  return isIPv6(plain) && list.check(plain, 'ipv6');
}
