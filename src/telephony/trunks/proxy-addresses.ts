/** Addresses of the trunks' proxies, looked up periodically. */
import { isIP } from 'node:net';
import { type Clock, within } from '../../lib/clock.ts';
import { proxyUriOf, type Trunk } from './trunks.ts';

/** How long a call may go to the former address after a proxy has moved. */
const KEPT_MS = 30_000;

/** The system's resolver has no limit that is worth the name. */
const ANSWER_MS_MAX = 5_000;

/** An installation may have 1000 trunks, and a resolver drops queries when it is flooded. */
const LOOK_UPS_MAX = 16;

/** Addresses of a trunk's proxy by RFC 3263; empty if its name does not resolve. */
export type LocateProxy = (trunk: Trunk) => Promise<readonly string[]>;

interface ProxyAddressesOptions {
  readonly locateProxy: LocateProxy;
  readonly clock: Clock;
}

interface Found {
  readonly addresses: readonly string[];
  readonly untilMs: number;
}

/** The newest addresses of each proxy, by its URI: trunks with the same proxy share a look-up. */
export class ProxyAddresses {
  readonly #options: ProxyAddressesOptions;
  /** Proxies that have a name, each with one of its trunks. */
  #named: ReadonlyMap<string, Trunk> = new Map();
  /** Proxies that are addresses themselves. */
  #literals: ReadonlySet<string> = new Set();
  readonly #found = new Map<string, Found>();
  readonly #lookUps = new Map<string, Promise<readonly string[]>>();
  #isRunning = false;
  #cancelNext: () => void = () => {};

  constructor(options: ProxyAddressesOptions) {
    this.#options = options;
  }

  /** Begins to look the proxies up; waits for none. */
  start(): void {
    this.#isRunning = true;
    this.#lookUpDue();
  }

  /** Knows the proxies of these trunks from now on, and forgets others. Waits for no look-up. */
  useTrunks(trunks: readonly Trunk[]): void {
    const isNamed = ({ proxy }: Trunk) => isIP(proxy.host) === 0;
    this.#named = new Map(trunks.filter(isNamed).map((trunk) => [proxyUriOf(trunk), trunk]));
    this.#literals = new Set(
      trunks.filter((trunk) => !isNamed(trunk)).map(({ proxy }) => proxy.host),
    );
    for (const uri of this.#found.keys()) {
      if (!this.#named.has(uri)) this.#found.delete(uri);
    }
    this.#lookUpDue();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelNext();
  }

  /** Whether an IP address is some proxy's, as far as its name has been resolved. */
  has(address: string): boolean {
    if (this.#literals.has(address)) return true;
    return [...this.#found.values()].some(({ addresses }) => addresses.includes(address));
  }

  /** Addresses of a trunk's proxy as far as its name has been resolved, the preferred one first. */
  of(trunk: Trunk): readonly string[] {
    const { host } = trunk.proxy;
    return isIP(host) === 0 ? (this.#found.get(proxyUriOf(trunk))?.addresses ?? []) : [host];
  }

  /** As `of`, but resolves the name first where its addresses are not recent; empty if it does not resolve. */
  async locate(trunk: Trunk): Promise<readonly string[]> {
    const uri = proxyUriOf(trunk);
    const isKnown = isIP(trunk.proxy.host) !== 0 || !this.#isDue(uri);
    return isKnown ? this.of(trunk) : await this.#lookUp(uri, trunk);
  }

  /** The rest follows when a look-up is over. */
  #lookUpDue(): void {
    this.#cancelNext();
    if (!this.#isRunning || this.#named.size === 0) return;
    for (const [uri, trunk] of this.#named) {
      if (this.#lookUps.size >= LOOK_UPS_MAX) return;
      if (this.#isDue(uri)) void this.#lookUp(uri, trunk);
    }
    this.#cancelNext = this.#options.clock.after(KEPT_MS, () => this.#lookUpDue());
  }

  #isDue(uri: string): boolean {
    const found = this.#found.get(uri);
    return found === undefined || this.#options.clock.nowMs() >= found.untilMs;
  }

  #lookUp(uri: string, trunk: Trunk): Promise<readonly string[]> {
    const lookUp = this.#lookUps.get(uri) ?? this.#ask(uri, trunk);
    this.#lookUps.set(uri, lookUp);
    return lookUp;
  }

  async #ask(uri: string, trunk: Trunk): Promise<readonly string[]> {
    const { clock, locateProxy } = this.#options;
    // A late answer counts as none: the next look-up follows soon.
    const answer = await within(clock, ANSWER_MS_MAX, locateProxy(trunk)).catch(() => []);
    this.#lookUps.delete(uri);
    const addresses = answer.length > 0 ? answer : (this.#found.get(uri)?.addresses ?? []);
    if (this.#named.has(uri)) {
      this.#found.set(uri, { addresses, untilMs: clock.nowMs() + KEPT_MS });
    }
    this.#lookUpDue();
    return addresses;
  }
}
