/** Public addresses of this server: `PUBLIC_ADDRESS` and those of trunks, with their host names resolved periodically. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ReadinessCheck } from '../../domain/call/engine-state.ts';
import type { AddressInUse } from '../../domain/dialing/trunk.ts';
import { type Clock, cached, within } from '../../lib/clock.ts';
import { interfaceAddresses, rangeOfAddress } from '../../lib/local-routes.ts';
import { advertisedAddressFor, listOf, placeOfFarEnd } from './advertised-address.ts';
import {
  AUTO,
  type KnownAddress,
  ObservedAddresses,
  type ObservedAddressesOptions,
} from './observed-addresses.ts';
import { sourcesOf } from './trunk-table.ts';
import { proxyUriOf, type Trunk } from './trunks.ts';

const INTERFACES_MS = 10_000;

/** Resolves a name; empty without an IPv4 address. */
type LookUp = (name: string) => Promise<readonly string[]>;

/** Addresses of a trunk's proxy by RFC 3263; empty if its name does not resolve. */
type LocateProxy = (trunk: Trunk) => Promise<readonly string[]>;

/** Constructor parameters of `OurAddresses`. */
export interface OurAddressesOptions
  extends Pick<ObservedAddressesOptions, 'askStun' | 'clock' | 'log'> {
  /** `PUBLIC_ADDRESS`. */
  readonly publicAddress: string | undefined;
  readonly trunks: readonly Trunk[];
  readonly locateProxy: LocateProxy;
  /** The system's resolver when not given. */
  readonly lookUp?: LookUp;
  /** Called when a name or an observed address is another one than before: registrations hold the old one. */
  readonly onChange?: () => void;
}

/** Part of `OurAddresses` that calls need. */
export type AdvertisedAddresses = Pick<
  OurAddresses,
  'advertisedTo' | 'isOutside' | 'proxyAddressOf'
>;

/** Our public addresses and the host that each far end can reach us at. */
export class OurAddresses {
  readonly #options: Omit<OurAddressesOptions, 'trunks'>;
  #trunks: readonly Trunk[] = [];
  /** Our names, each with one address at most. */
  readonly #names: NameLookUps<string>;
  /** Whether a name has another address than before, and that is not reported yet. */
  #hasChanged = false;
  /** Proxies that have a name, by their URI: trunks with the same proxy share a look-up. */
  readonly #proxies: NameLookUps<Trunk>;
  readonly #observed: ObservedAddresses;
  readonly #ownNetworks: () => ReturnType<typeof listOf>;

  constructor({ trunks, ...options }: OurAddressesOptions) {
    this.#options = options;
    const { clock, locateProxy } = options;
    this.#names = new NameLookUps({
      ask: (name) => this.#lookUp(name),
      onAnswer: (...told) => this.#heard(...told),
      onSettled: () => this.#report(),
      clock,
    });
    this.#proxies = new NameLookUps({ ask: locateProxy, clock });
    this.#observed = new ObservedAddresses({
      ...options,
      onChange: () => {
        if (this.#isAuto) options.onChange?.();
      },
    });
    this.useTrunks(trunks);
    this.#ownNetworks = cached(ownNetworks, { keptMs: INTERFACES_MS, clock });
  }

  /**
   * Resolves when every name of ours has been looked up once and the STUN server was asked, found or not; both again every half minute.
   * The names of proxies are not waited for.
   */
  async start(): Promise<void> {
    this.#proxies.start();
    this.#names.start();
    const found = this.#ownNames.map((name) => this.#names.locate(name, name));
    await Promise.all([...found, this.#observed.start()]);
  }

  /** Uses the addresses of these trunks from now on. Waits for no look-up: `proxyAddressOf` does. */
  useTrunks(trunks: readonly Trunk[]): void {
    this.#trunks = trunks;
    this.#names.use(new Map(this.#ownNames.map((name) => [name, name])));
    const named = trunks.filter(({ proxy }) => isIP(proxy.host) === 0);
    this.#proxies.use(new Map(named.map((trunk) => [proxyUriOf(trunk), trunk])));
  }

  /** Safe to call twice. */
  stop(): void {
    this.#names.stop();
    this.#proxies.stop();
    this.#observed.stop();
  }

  /** Notes the source address of our request, as a carrier reports it. */
  seen(farEnd: string, address: string): void {
    this.#observed.seen(farEnd, address);
  }

  /**
   * Our address for a far end, in SIP and in SDP.
   *
   * @param farEnd its IP address; an empty one counts as outside.
   * @param trunk trunk of the call; default: the trunk whose carrier has that address.
   * @returns IPv4; undefined for the local address, the source of our packets to the far end.
   */
  advertisedTo(farEnd: string, trunk = this.#trunkAt(farEnd)): string | undefined {
    return this.#choose(farEnd, trunk)?.address;
  }

  /** The address that is advertised to a trunk's carrier now, and its source. */
  inUseFor(trunk: Trunk): AddressInUse {
    const [farEnd = ''] = this.#proxiesOf(trunk);
    return this.#choose(farEnd, trunk) ?? { address: null, source: 'local' };
  }

  #choose(farEnd: string, trunk: Trunk | undefined): KnownAddress | undefined {
    return advertisedAddressFor({
      farEnd,
      ownNetworks: this.#ownNetworks(),
      trunkAddress: this.#addressOf(trunk?.advertisedAddress, farEnd),
      publicAddress: this.#addressOf(this.#options.publicAddress, farEnd),
    });
  }

  /** Whether an address is the proxy of a trunk, as far as its name has been resolved. */
  isProxy(address: string): boolean {
    const bare = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return this.#trunks.some(({ proxy }) => proxy.host === bare) || this.#proxies.has(bare);
  }

  /** Whether a far end is outside all private networks; an empty address counts as outside. */
  isOutside(farEnd: string): boolean {
    return placeOfFarEnd(farEnd, this.#ownNetworks()) === 'outside';
  }

  /** Whether a far end outside cannot send to an address, because it is private. */
  isUnreachableFor(farEnd: string, told: string): boolean {
    return this.isOutside(farEnd) && rangeOfAddress(told) === 'private';
  }

  /**
   * IP address that calls through a trunk go to; empty if its name does not resolve. Resolves when the trunk's own
   * `advertisedAddress` has been looked up as well.
   */
  async proxyAddressOf(trunk: Trunk): Promise<string> {
    const { advertisedAddress: name = '', proxy } = trunk;
    const isAwaited = this.#ownNames.includes(name) && this.#names.of(name).length === 0;
    const ours = isAwaited ? this.#names.locate(name, name) : undefined;
    const isNamed = isIP(proxy.host) === 0;
    const theirs = isNamed ? this.#proxies.locate(proxyUriOf(trunk), trunk) : [proxy.host];
    const [[address = '']] = await Promise.all([theirs, ours]);
    return address;
  }

  /** State for `/readyz`: a name without an address means calls without audio. Undefined without `PUBLIC_ADDRESS`. */
  check(): ReadinessCheck | undefined {
    const { publicAddress } = this.#options;
    if (publicAddress === undefined) return undefined;
    const known = publicAddress === AUTO ? this.#observed.general : this.#addressOf(publicAddress);
    return {
      name: 'public address',
      isOk: known !== undefined,
      state: stateOf(publicAddress, known),
    };
  }

  /** Whether some setting takes an observed address. */
  get #isAuto(): boolean {
    const { publicAddress } = this.#options;
    return (
      publicAddress === AUTO ||
      this.#trunks.some(({ advertisedAddress }) => advertisedAddress === AUTO)
    );
  }

  /** Addresses of a trunk's proxy as far as its name has been resolved, the preferred one first. */
  #proxiesOf(trunk: Trunk): readonly string[] {
    const { host } = trunk.proxy;
    return isIP(host) === 0 ? this.#proxies.of(proxyUriOf(trunk)) : [host];
  }

  get #ownNames(): readonly string[] {
    const { publicAddress } = this.#options;
    const all = [publicAddress, ...this.#trunks.map(({ advertisedAddress }) => advertisedAddress)];
    const names = all.flatMap((text) => text ?? []).filter((text) => text !== AUTO);
    return [...new Set(names)].filter((text) => isIP(text) === 0);
  }

  #addressOf(text: string | undefined, farEnd = ''): KnownAddress | undefined {
    if (text === undefined) return undefined;
    if (text === AUTO) return this.#observed.for(farEnd);
    if (isIP(text) !== 0) return { address: text, source: 'setting' };
    const [address] = this.#names.of(text);
    return address === undefined ? undefined : { address, source: 'name' };
  }

  /** Finds the trunk of a far end, among trunks that have an address of their own. */
  #trunkAt(farEnd: string): Trunk | undefined {
    const family = isIP(farEnd);
    if (family === 0) return undefined;
    return this.#trunks.find(
      (trunk) =>
        trunk.advertisedAddress !== undefined &&
        (this.#proxiesOf(trunk).includes(farEnd) ||
          sourcesOf(trunk).check(farEnd, family === 4 ? 'ipv4' : 'ipv6')),
    );
  }

  /** Resolves a name; of several addresses keeps the one before: resolvers turn their order. */
  async #lookUp(name: string): Promise<readonly string[]> {
    const { lookUp = systemLookUp } = this.#options;
    const found = await lookUp(name);
    const known = this.#names.of(name).filter((address) => found.includes(address));
    return [...known, ...found].slice(0, 1);
  }

  #heard(name: string, [address]: readonly string[], former?: readonly string[]): void {
    const { log } = this.#options;
    const [known] = former ?? [];
    if (address === undefined) {
      log.warn({ name, address: known }, 'could not look up our public address');
    } else if (address !== known) {
      log.info({ name, address }, 'public address found');
      this.#hasChanged ||= former !== undefined;
    }
  }

  #report(): void {
    if (this.#hasChanged) this.#options.onChange?.();
    this.#hasChanged = false;
  }
}

/** State for `/readyz`: the address, and its source. */
function stateOf(setting: string, known: KnownAddress | undefined): string {
  const by = { carrier: 'as a carrier sees it', stun: 'as the STUN server sees it' };
  if (known === undefined) {
    return setting === AUTO
      ? 'PUBLIC_ADDRESS=auto: no carrier and no STUN server has told our address yet; set STUN_SERVER, or the address itself'
      : `cannot find the address of "${setting}"`;
  }
  const { address, source } = known;
  if (source === 'carrier' || source === 'stun') return `${address}, ${by[source]}`;
  return source === 'name' ? `${setting} is ${address}` : address;
}

const systemLookUp: LookUp = async (name) => {
  const found = await lookup(name, { all: true, family: 4 }).catch(() => []);
  return found.map(({ address }) => address);
};

function ownNetworks(): ReturnType<typeof listOf> {
  return listOf(
    interfaceAddresses().flatMap(({ family, cidr }) => (family === 'IPv4' && cidr ? [cidr] : [])),
  );
}

/** Life of a look-up: for this long, calls may use or advertise a name's former address. */
const KEPT_MS = 30_000;

/** The system's resolver has no limit that is worth the name. */
const ANSWER_MS_MAX = 5_000;

/** An installation may have 1000 trunks, and a resolver drops queries when it is flooded. */
const LOOK_UPS_MAX = 16;

interface Options<Asked> {
  readonly ask: (asked: Asked) => Promise<readonly string[]>;
  /**
   * Receives every answer, before it counts.
   *
   * @param answer is empty where none came in time.
   * @param former is undefined at the first answer of a name.
   */
  readonly onAnswer?: (
    name: string,
    answer: readonly string[],
    former: readonly string[] | undefined,
  ) => void;
  /** Called when no look-up is in progress any more. */
  readonly onSettled?: () => void;
  readonly clock: Clock;
}

interface Found {
  readonly addresses: readonly string[];
  readonly untilMs: number;
}

/** The newest addresses of each name, and the query for them. A name without an answer keeps its former addresses. */
class NameLookUps<Asked> {
  readonly #options: Options<Asked>;
  #names: ReadonlyMap<string, Asked> = new Map();
  readonly #found = new Map<string, Found>();
  readonly #lookUps = new Map<string, Promise<readonly string[]>>();
  #isRunning = false;
  #cancelNext: () => void = () => {};

  constructor(options: Options<Asked>) {
    this.#options = options;
  }

  /** Begins to look the names up; waits for none. */
  start(): void {
    this.#isRunning = true;
    this.#lookUpDue();
  }

  /** Knows these names from now on, and forgets others. Waits for no look-up. */
  use(names: ReadonlyMap<string, Asked>): void {
    this.#names = names;
    for (const name of this.#found.keys()) if (!names.has(name)) this.#found.delete(name);
    this.#lookUpDue();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelNext();
  }

  /** Whether some name has the address. */
  has(address: string): boolean {
    return [...this.#found.values()].some(({ addresses }) => addresses.includes(address));
  }

  /** Addresses of a name as far as it has been resolved, the preferred one first. */
  of(name: string): readonly string[] {
    return this.#found.get(name)?.addresses ?? [];
  }

  /** Returns the addresses as `of` does, but resolves the name first where they are not recent. */
  async locate(name: string, asked: Asked): Promise<readonly string[]> {
    return this.#isDue(name) ? await this.#lookUp(name, asked) : this.of(name);
  }

  /** The rest follows when a look-up is over. */
  #lookUpDue(): void {
    this.#cancelNext();
    if (!this.#isRunning || this.#names.size === 0) return;
    for (const [name, asked] of this.#names) {
      if (this.#lookUps.size >= LOOK_UPS_MAX) return;
      if (this.#isDue(name)) void this.#lookUp(name, asked);
    }
    this.#cancelNext = this.#options.clock.after(KEPT_MS, () => this.#lookUpDue());
  }

  #isDue(name: string): boolean {
    const found = this.#found.get(name);
    return found === undefined || this.#options.clock.nowMs() >= found.untilMs;
  }

  #lookUp(name: string, asked: Asked): Promise<readonly string[]> {
    const lookUp = this.#lookUps.get(name) ?? this.#ask(name, asked);
    this.#lookUps.set(name, lookUp);
    return lookUp;
  }

  async #ask(name: string, asked: Asked): Promise<readonly string[]> {
    const { ask, clock, onAnswer, onSettled } = this.#options;
    // A late answer counts as none: the next look-up follows soon.
    const answer = await within(clock, ANSWER_MS_MAX, ask(asked)).catch(() => []);
    this.#lookUps.delete(name);
    const former = this.#found.get(name)?.addresses;
    const addresses = answer.length > 0 ? answer : (former ?? []);
    if (this.#names.has(name)) {
      onAnswer?.(name, answer, former);
      this.#found.set(name, { addresses, untilMs: clock.nowMs() + KEPT_MS });
    }
    this.#lookUpDue();
    if (this.#isRunning && this.#lookUps.size === 0) onSettled?.();
    return addresses;
  }
}
