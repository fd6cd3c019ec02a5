/** Trunk look-up: by source address, by number, by the realm of a challenge, and by a next hop of TLS; pure */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { numberOfHeader } from '../call-headers.ts';
import { addNetwork, proxyUriOf, type Trunk } from './trunks.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

/** Look-up over the trunks in effect. */
export class TrunkTable {
  readonly #loopback = listOf(LOOPBACK);
  readonly #isOwnAddress: (address: string) => boolean;
  #trunks: readonly Trunk[];

  /** @param isOwnAddress whether an address is one of this machine's interfaces: some telephones on it send from that one. */
  constructor(trunks: readonly Trunk[], isOwnAddress: (address: string) => boolean = () => false) {
    this.#trunks = trunks;
    this.#isOwnAddress = isOwnAddress;
  }

  /** In the order of preference. */
  get trunks(): readonly Trunk[] {
    return this.#trunks;
  }

  /** Looks up in these from now on. */
  useTrunks(trunks: readonly Trunk[]): void {
    this.#trunks = trunks;
  }

  /**
   * Whether a host may call us: one in a trunk's sources, or this machine while there are no trunks.
   *
   * @param sourceAddress source IP address of the packet, never one from a header.
   */
  isAllowed(sourceAddress: string): boolean {
    if (this.trunks.length === 0) {
      return isOn(this.#loopback, sourceAddress) || this.#isOwnAddress(sourceAddress);
    }
    return this.trunks.some((trunk) => this.#allows(trunk, sourceAddress));
  }

  /** The trunk of an incoming call; of several on one address, the one that has the number. */
  ofIncoming(sourceAddress: string, calledNumber: string): Trunk | undefined {
    const possible = this.trunks.filter((trunk) => this.#allows(trunk, sourceAddress));
    return possible.find((trunk) => hasNumber(trunk, calledNumber)) ?? possible[0];
  }

  /** The trunks that may call from the number, in the order of preference. */
  allOfOutgoing(number: string): readonly Trunk[] {
    return this.trunks.filter((trunk) => hasNumber(trunk, number));
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

/** Makes a list of IP addresses and networks in CIDR form. */
export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) addNetwork(list, text);
  return list;
}

/**
 * Whether the source address of a packet is on the list. An IPv4-mapped IPv6 address counts as IPv4, since a socket for both
 * shows it so; brackets of IPv6, as drachtio-server writes them, do not matter.
 */
export function isOn(list: BlockList, address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(plain)) return list.check(plain, 'ipv4');
  return isIPv6(plain) && list.check(plain, 'ipv6');
}

type Numbered = Pick<Trunk, 'name' | 'numbers' | 'account'>;

/** Finds the trunks that have a number, for lists of many numbers. */
export class TrunkNumbers {
  #index: NumberIndex;

  constructor(trunks: readonly Numbered[]) {
    this.#index = indexOf(trunks);
  }

  /** Finds among these from now on. */
  useTrunks(trunks: readonly Numbered[]): void {
    this.#index = indexOf(trunks);
  }

  /** Every number, or beginning and star, once, sorted. */
  get all(): readonly string[] {
    return this.#index.all;
  }

  /** Trunk names in the order of preference. A pattern `+39*` belongs to the trunks that list it or a shorter one. */
  readonly trunksOf = (number: string): readonly string[] => {
    const { beginnings, names, places } = this.#index;
    const written = number.endsWith('*') ? number.slice(0, -1) : number;
    const byStart = beginnings
      .filter(({ start }) => written.startsWith(start))
      .map(({ name }) => name);
    const found = new Set([...(names.get(number) ?? []), ...byStart]);
    const placeOf = (name: string) => places.get(name) ?? 0;
    return [...found].sort((a, b) => placeOf(a) - placeOf(b));
  };

  /** Account id of the first trunk with the number, null if it names none; undefined without a trunk. */
  readonly accountOf = (number: string): string | null | undefined => {
    const [trunk] = this.trunksOf(number);
    return trunk === undefined ? undefined : this.#index.accounts.get(trunk);
  };
}

interface NumberIndex {
  readonly all: readonly string[];
  /** Trunk names by number, or beginning and star. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly beginnings: readonly { readonly start: string; readonly name: string }[];
  /** Places of the trunks in the order of preference. */
  readonly places: ReadonlyMap<string, number>;
  /** Account ids by the trunk's name. */
  readonly accounts: ReadonlyMap<string, string | null>;
}

function indexOf(trunks: readonly Numbered[]): NumberIndex {
  const entries = trunks.flatMap(({ name, numbers }) =>
    numbers.map((number) => ({ name, number })),
  );
  const names = new Map<string, string[]>();
  for (const { name, number } of entries) {
    const known = names.get(number) ?? [];
    if (!known.includes(name)) known.push(name);
    names.set(number, known);
  }
  return {
    all: [...names.keys()].sort(),
    names,
    beginnings: entries
      .filter(({ number }) => number.endsWith('*'))
      .map(({ name, number }) => ({ name, start: number.slice(0, -1) })),
    places: new Map(trunks.map(({ name }, place) => [name, place])),
    accounts: new Map(trunks.map(({ name, account = null }) => [name, account])),
  };
}

/** Finds the user name and password for a carrier's challenge */
export interface TrunkCredentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Credentials for a challenge.
 *
 * @param realm of the challenge.
 * @param requestUri of the refused request: a password is only for its own carrier.
 * @param from of the refused request; distinguishes several accounts at one carrier.
 * @returns undefined without credentials.
 */
export type FindCredentials = (
  realm: string,
  requestUri: string,
  from?: string,
) => TrunkCredentials | undefined;

/** Finds user name and password for the realm of a digest challenge. */
export function credentialsOf(trunks: readonly Trunk[]): FindCredentials {
  return (realm, requestUri, from = '') => {
    const host = hostOfUri(requestUri);
    const possible = trunks.filter(
      (trunk) =>
        [trunk.domain, trunk.proxy.host].some((own) => own?.toLowerCase() === host) &&
        (trunk.realm === undefined || trunk.realm === realm),
    );
    const trunk = possible.find((each) => isOf(each, numberOfHeader(from))) ?? possible[0];
    if (trunk?.username === undefined || trunk.password === undefined) return undefined;
    return { username: trunk.username, password: trunk.password };
  };
}

function isOf(trunk: Trunk, caller: string): boolean {
  return trunk.username === caller || trunk.callerId === caller || hasNumber(trunk, caller);
}

/**
 * URI of the proxy of the trunk that a TLS next hop belongs to: the trunk whose sources have its IP address, which no
 * certificate proves, else the only one with TLS.
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

/** Host and port of a sip URI, without its user and parameters. */
export function hostPortOfUri(uri: string): string {
  return uri.replace(/^sips?:(?:[^@]*@)?/i, '').replace(/[;?].*$/, '');
}

/** Host of a sip URI, without port and brackets. */
export function hostOfUri(uri: string): string {
  const [, host = ''] = /^sips?:(?:[^@]*@)?(\[[^\]]*\]|[^:;?]*)/i.exec(uri) ?? [];
  return host.replace(/^\[|\]$/g, '').toLowerCase();
}
