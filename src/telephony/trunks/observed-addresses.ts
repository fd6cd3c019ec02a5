/** Our public address as far ends see it, for `auto`: by carriers (`received` in Via) and by a STUN server. */
import { isIPv4 } from 'node:net';
import type { AddressInUse } from '../../domain/dialing/trunk.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { type Clock, within } from '../../lib/clock.ts';
import { rangeOfAddress } from '../../lib/local-routes.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { isAdvertisable } from './advertised-address.ts';

/** How long a call may reach the wrong address after ours has changed. */
const ASK_AGAIN_MS = 30_000;

/** Time limit of the STUN server's answer, its name's look-up included: the start waits for it. */
const STUN_MS_MAX = 5_000;

/** Shortest time between two reports of a change: each makes every trunk register. */
const REPORT_MS_MIN = 30_000;

/** Delay before the first address is reported: the registration that revealed it was sent without it. */
const FIRST_REPORT_MS = 1_000;

/** Far ends are proxies of trunks, of which an installation may have 1000. */
const FAR_ENDS_MAX = 4096;

/** Setting of `PUBLIC_ADDRESS` and `advertisedAddress` for an observed address. */
export const AUTO = 'auto';

/** A public IPv4 address of ours, and where it is from: as set, by the name that is set, or observed. */
export interface KnownAddress {
  readonly address: string;
  readonly source: Exclude<AddressInUse['source'], 'local'>;
}

export interface ObservedAddressesOptions {
  /** Asks the STUN server; undefined where the operator names none. */
  readonly askStun?: (() => Promise<string>) | undefined;
  /** Called when an address is another one than before; twice a minute at most. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Our addresses as carriers and the STUN server have seen them, the newest of each. */
export class ObservedAddresses {
  readonly #options: ObservedAddressesOptions;
  /** Addresses by IP address of the carrier. */
  readonly #byFarEnd = new BoundedMap<string, string>(FAR_ENDS_MAX);
  #newest: string | undefined;
  #byStun: string | undefined;
  #isStunSilent = false;
  #isRunning = false;
  /** True during the first STUN request, before anything has registered. */
  #isStarting = false;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #cancelAsk: () => void = () => {};
  #cancelReport: (() => void) | undefined;

  constructor(options: ObservedAddressesOptions) {
    this.#options = options;
  }

  /** Resolves when the STUN server, where there is one, has been asked once; it is asked again every half minute. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#isStarting = true;
    await this.#ask();
    this.#isStarting = false;
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelAsk();
    this.#cancelReport?.();
    this.#cancelReport = undefined;
  }

  /** Notes the source address of our request, as a carrier's answer reports it. */
  seen(farEnd: string, address: string): void {
    if (!isIPv4(address) || !isAdvertisable(address)) return;
    if (this.#byFarEnd.get(farEnd) === address) return;
    const told = this.for(farEnd)?.address;
    this.#byFarEnd.set(farEnd, address);
    if (rangeOfAddress(address) !== 'private') this.#newest = address;
    if (told !== address) this.#changed({ address, source: 'carrier' });
  }

  /**
   * Our address for a far end: the one that this far end has reported, else the STUN server's, else the newest one
   * that any carrier has reported.
   */
  for(farEnd: string): KnownAddress | undefined {
    const own = this.#byFarEnd.get(farEnd);
    if (own !== undefined) return { address: own, source: 'carrier' };
    return this.general;
  }

  /** Our address for far ends that have reported none. */
  get general(): KnownAddress | undefined {
    if (this.#byStun !== undefined) return { address: this.#byStun, source: 'stun' };
    return this.#newest === undefined ? undefined : { address: this.#newest, source: 'carrier' };
  }

  async #ask(): Promise<void> {
    const { askStun, clock } = this.#options;
    if (askStun === undefined) return;
    try {
      this.#told(await within(clock, STUN_MS_MAX, askStun()));
    } catch (error) {
      this.#missed(error);
    }
    if (!this.#isRunning) return;
    this.#cancelAsk = clock.after(ASK_AGAIN_MS, () => void this.#ask());
  }

  #told(address: string): void {
    this.#isStunSilent = false;
    if (!this.#isRunning || !isAdvertisable(address) || address === this.#byStun) return;
    this.#byStun = address;
    this.#changed({ address, source: 'stun' });
  }

  /** The last address stays in use; said once until it answers again. */
  #missed(error: unknown): void {
    if (this.#isStunSilent) return;
    this.#isStunSilent = true;
    this.#options.log.warn(
      { why: messageOf(error), address: this.#byStun },
      'the STUN server did not tell our address',
    );
  }

  #changed(observed: KnownAddress): void {
    const { clock, log } = this.#options;
    log.info(observed, 'public address observed');
    if (!this.#isRunning || this.#isStarting || this.#cancelReport !== undefined) return;
    const sinceMs = clock.nowMs() - this.#reportedAtMs;
    this.#cancelReport = clock.after(Math.max(FIRST_REPORT_MS, REPORT_MS_MIN - sinceMs), () => {
      this.#cancelReport = undefined;
      this.#reportedAtMs = clock.nowMs();
      this.#options.onChange();
    });
  }
}
