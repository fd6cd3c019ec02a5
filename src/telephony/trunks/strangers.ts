/** SIP from hosts that no trunk knows: counted by network and by source, logged and refused at a limited rate. */
import type { Clock } from '../../lib/clock.ts';
import { rangeOfAddress } from '../../lib/local-routes.ts';
import type { Logger } from '../../lib/logger.ts';

/** A scanner cannot fill the disk. */
const PAUSE_MS = 10_000;

/** Refusals of one source within a pause: enough for a carrier's engineer to see, too few to be worth forging a source for. */
const REFUSALS_MAX = 10;

/** Sources that are counted one by one within a pause; the requests of others count in total only. */
const SOURCES_MAX = 1000;

/** Sources that one line of the log names. */
const SOURCES_LOGGED = 5;

/** Requests of strangers since the start, by the network of their source. */
export type StrangerCounts = Readonly<Record<ReturnType<typeof rangeOfAddress>, number>>;

interface StrangersOptions {
  /** Whether a trunk knows the source address of a packet. */
  readonly isKnown: (sourceAddress: string) => boolean;
  /** Whether strangers are refused; else they get no answer. Default: they are refused. */
  readonly isPolite?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tells strangers from carriers. */
export class Strangers {
  readonly #options: StrangersOptions;
  readonly #counts = { loopback: 0, private: 0, public: 0, never: 0 };
  /** Requests by source address since the last line of the log. */
  #unlogged = new Map<string, number>();
  #unloggedCount = 0;
  /** Requests by source address in this pause. */
  #asked = new Map<string, number>();
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

  /** Whether a source gets no answer: a stranger, unless strangers are refused and this one has not had its refusals yet. */
  isSilenced(sourceAddress: string): boolean {
    if (!this.isStranger(sourceAddress)) return false;
    if (this.#options.isPolite === false) return true;
    const asked = this.#asked.get(sourceAddress);
    return asked === undefined ? this.#asked.size >= SOURCES_MAX : asked >= REFUSALS_MAX;
  }

  /** Counts a request that is ignored or refused. The first is logged at once, those of the next ten seconds together. */
  count(sourceAddress: string): void {
    this.#counts[rangeOfAddress(sourceAddress)] += 1;
    this.#unloggedCount += 1;
    addTo(this.#unlogged, sourceAddress);
    addTo(this.#asked, sourceAddress);
    if (this.#stopTimer === undefined) this.#write();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #write(): void {
    const { clock, log } = this.#options;
    const bySource = [...this.#unlogged].sort(([, one], [, other]) => other - one);
    const busiest = bySource.slice(0, SOURCES_LOGGED);
    log.warn(
      {
        count: this.#unloggedCount,
        sources: this.#unlogged.size,
        busiest: busiest.map(([sourceAddress, count]) => ({ sourceAddress, count })),
      },
      'SIP from a host that no trunk allows: if it is your carrier, add it to allowedSources',
    );
    this.#unlogged = new Map();
    this.#unloggedCount = 0;
    this.#stopTimer = clock.after(PAUSE_MS, () => {
      this.#stopTimer = undefined;
      this.#asked = new Map();
      if (this.#unloggedCount > 0) this.#write();
    });
  }
}

function addTo(counts: Map<string, number>, sourceAddress: string): void {
  const count = counts.get(sourceAddress);
  if (count === undefined && counts.size >= SOURCES_MAX) return;
  counts.set(sourceAddress, (count ?? 0) + 1);
}
