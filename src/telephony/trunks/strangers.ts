/** SIP from hosts that no trunk knows: counted by network, and logged at a limited rate. */
import type { Clock } from '../../lib/clock.ts';
import { rangeOfAddress } from '../../lib/local-routes.ts';
import type { Logger } from '../../lib/logger.ts';

/** A scanner cannot fill the disk. */
const PAUSE_MS = 10_000;

/** Requests of strangers since the start, by the network of their source. */
export type StrangerCounts = Readonly<Record<ReturnType<typeof rangeOfAddress>, number>>;

interface StrangersOptions {
  /** Whether a trunk knows the source address of a packet. */
  readonly isKnown: (sourceAddress: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tells strangers from carriers. */
export class Strangers {
  readonly #options: StrangersOptions;
  readonly #counts = { loopback: 0, private: 0, public: 0, never: 0 };
  #unlogged = 0;
  #stopTimer: (() => void) | undefined;

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  get counts(): StrangerCounts {
    return this.#counts;
  }

  /** @param sourceAddress source IP address of the packet, never one from a header. */
  isStranger(sourceAddress: string): boolean {
    return !this.#options.isKnown(sourceAddress);
  }

  /** Counts a request that is ignored or refused. The first is logged at once, those of the next ten seconds together. */
  count(sourceAddress: string): void {
    this.#counts[rangeOfAddress(sourceAddress)] += 1;
    this.#unlogged += 1;
    if (this.#stopTimer === undefined) this.#write(sourceAddress);
  }

  /** Safe to call twice. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #write(sourceAddress: string): void {
    const { clock, log } = this.#options;
    log.warn(
      { sourceAddress, count: this.#unlogged },
      'SIP from a host that no trunk allows: if it is your carrier, add it to allowedSources',
    );
    this.#unlogged = 0;
    this.#stopTimer = clock.after(PAUSE_MS, () => {
      this.#stopTimer = undefined;
      if (this.#unlogged > 0) this.#write(sourceAddress);
    });
  }
}
