/** Public addresses of this server: `PUBLIC_ADDRESS` and those of trunks, with their host names resolved periodically. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ReadinessCheck } from '../../domain/call/engine-state.ts';
import type { AddressInUse } from '../../domain/dialing/trunk.ts';
import { type Clock, cached, within } from '../../lib/clock.ts';
import { interfaceAddresses, rangeOfAddress } from '../../lib/local-routes.ts';
import type { Logger } from '../../lib/logger.ts';
import { advertisedAddressFor, listOf, placeOfFarEnd } from './advertised-address.ts';
import { AUTO, type KnownAddress, ObservedAddresses } from './observed-addresses.ts';
import { type LocateProxy, ProxyAddresses } from './proxy-addresses.ts';
import { sourcesOf } from './trunk-table.ts';
import type { Trunk } from './trunks.ts';

/** How long a call may reach the wrong address after a dynamic one has changed. */
const LOOK_UP_MS = 30_000;

/** The system's resolver has no limit that is worth the name. */
const ANSWER_MS_MAX = 5_000;

const INTERFACES_MS = 10_000;

/** Resolves a name; empty without an IPv4 address. */
export type LookUp = (name: string) => Promise<readonly string[]>;

/** Constructor parameters of `OurAddresses`. */
export interface OurAddressesOptions {
  /** `PUBLIC_ADDRESS`. */
  readonly publicAddress: string | undefined;
  readonly trunks: readonly Trunk[];
  readonly locateProxy: LocateProxy;
  /** The system's resolver when not given. */
  readonly lookUp?: LookUp;
  /** Asks the STUN server; undefined where the operator names none. */
  readonly askStun?: (() => Promise<string>) | undefined;
  /** Called when a name or an observed address is another one than before: registrations hold the old one. */
  readonly onChange?: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What calls need to know. */
export type AdvertisedAddresses = Pick<
  OurAddresses,
  'advertisedTo' | 'isOutside' | 'proxyAddressOf'
>;

/** Our public addresses and the host that each far end can reach us at. */
export class OurAddresses {
  readonly #options: Omit<OurAddressesOptions, 'trunks'>;
  /** The newest address of each name. */
  readonly #addresses = new Map<string, string>();
  #trunks: readonly Trunk[];
  #names: readonly string[];
  readonly #lookUps = new Map<string, Promise<void>>();
  readonly #proxies: ProxyAddresses;
  readonly #observed: ObservedAddresses;
  readonly #ownNetworks: () => ReturnType<typeof listOf>;
  #isRunning = false;
  #cancelNext: () => void = () => {};

  constructor({ trunks, ...options }: OurAddressesOptions) {
    this.#options = options;
    this.#trunks = trunks;
    this.#names = this.#namesOf(trunks);
    this.#proxies = new ProxyAddresses(options);
    this.#observed = new ObservedAddresses({
      ...options,
      onChange: () => {
        if (this.#isAuto) options.onChange?.();
      },
    });
    this.#proxies.useTrunks(trunks);
    this.#ownNetworks = cached(ownNetworks, { keptMs: INTERFACES_MS, clock: options.clock });
  }

  /**
   * Resolves when every name of ours has been looked up once and the STUN server was asked, found or not; both again every half minute.
   * The names of proxies are not waited for.
   */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#proxies.start();
    await Promise.all([this.#lookUpAll(), this.#observed.start()]);
  }

  /** Uses the addresses of these trunks from now on. Waits for no look-up: `proxyAddressOf` does. */
  useTrunks(trunks: readonly Trunk[]): void {
    const hadNames = this.#names.length > 0;
    this.#trunks = trunks;
    this.#names = this.#namesOf(trunks);
    this.#proxies.useTrunks(trunks);
    for (const name of this.#addresses.keys()) {
      if (!this.#names.includes(name)) this.#addresses.delete(name);
    }
    if (!this.#isRunning) return;
    for (const name of this.#names) {
      if (!this.#addresses.has(name)) void this.#lookUpName(name);
    }
    if (!hadNames) this.#lookUpLater();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelNext();
    this.#proxies.stop();
    this.#observed.stop();
  }

  /** A carrier has told the address that our request came from. */
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

  /** The address that a trunk's carrier is told now, and where it is from. */
  inUseFor(trunk: Trunk): AddressInUse {
    const [farEnd = ''] = this.#proxies.of(trunk);
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
    return this.#proxies.has(address.replace(/^::ffff:(?=\d+\.)/i, ''));
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
    const { advertisedAddress: name = '' } = trunk;
    const ours = this.#addresses.has(name) ? undefined : this.#lookUps.get(name);
    const [[address = '']] = await Promise.all([this.#proxies.locate(trunk), ours]);
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

  #namesOf(trunks: readonly Trunk[]): readonly string[] {
    const { publicAddress } = this.#options;
    const all = [publicAddress, ...trunks.map(({ advertisedAddress }) => advertisedAddress)];
    const names = all.flatMap((text) => text ?? []).filter((text) => text !== AUTO);
    return [...new Set(names)].filter((text) => isIP(text) === 0);
  }

  #addressOf(text: string | undefined, farEnd = ''): KnownAddress | undefined {
    if (text === undefined) return undefined;
    if (text === AUTO) return this.#observed.for(farEnd);
    if (isIP(text) !== 0) return { address: text, source: 'setting' };
    const address = this.#addresses.get(text);
    return address === undefined ? undefined : { address, source: 'name' };
  }

  /** Of those trunks alone that have an address of their own. */
  #trunkAt(farEnd: string): Trunk | undefined {
    const family = isIP(farEnd);
    if (family === 0) return undefined;
    return this.#trunks.find(
      (trunk) =>
        trunk.advertisedAddress !== undefined &&
        (this.#proxies.of(trunk).includes(farEnd) ||
          sourcesOf(trunk).check(farEnd, family === 4 ? 'ipv4' : 'ipv6')),
    );
  }

  async #lookUpAgain(): Promise<void> {
    const before = new Map(this.#addresses);
    await this.#lookUpAll();
    if (!this.#isRunning) return;
    const hasChanged = this.#names.some((name) => before.get(name) !== this.#addresses.get(name));
    if (hasChanged) this.#options.onChange?.();
  }

  async #lookUpAll(): Promise<void> {
    await Promise.all(this.#names.map((name) => this.#lookUpName(name)));
    this.#lookUpLater();
  }

  #lookUpLater(): void {
    if (!this.#isRunning || this.#names.length === 0) return;
    this.#cancelNext();
    this.#cancelNext = this.#options.clock.after(LOOK_UP_MS, () => void this.#lookUpAgain());
  }

  #lookUpName(name: string): Promise<void> {
    const lookUp = this.#lookUps.get(name) ?? this.#askFor(name);
    this.#lookUps.set(name, lookUp);
    return lookUp;
  }

  async #askFor(name: string): Promise<void> {
    const { log, lookUp = systemLookUp } = this.#options;
    const found = await this.#inTime(lookUp(name));
    this.#lookUps.delete(name);
    if (!this.#names.includes(name)) return;
    const known = this.#addresses.get(name);
    // Of several the same one as before: resolvers turn their order.
    const address = known !== undefined && found.includes(known) ? known : found[0];
    if (address === undefined) {
      log.warn({ name, address: known }, 'could not look up our public address');
    } else if (address !== known) {
      this.#addresses.set(name, address);
      log.info({ name, address }, 'public address found');
    }
  }

  async #inTime(found: Promise<readonly string[]>): Promise<readonly string[]> {
    // A late answer counts as none: the next look-up follows soon.
    return await within(this.#options.clock, ANSWER_MS_MAX, found).catch(() => []);
  }
}

/** For `/readyz`. */
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
