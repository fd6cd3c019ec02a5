/** Channels in use and pace of the trunks. */
import type { TrunkRoute } from '../../carrier.ts';
import type { Trunk } from '../../trunks/trunks.ts';

/** Channels in use of each trunk, against its `maxCalls`, and its pace, by its `callsPerSecond`. Shared by all SIP servers. */
export class TrunkChannels {
  /** By the trunk's name: its settings may change while calls are in progress. */
  readonly #inUse = new Map<string, number>();
  /** Channels by the settings that their calls began with. */
  readonly #taken = new Map<Trunk, number>();
  /** When the next call may begin, by the trunk's name; entries of the past are dropped. */
  readonly #nextDialAtMs = new Map<string, number>();

  /**
   * Takes one channel of the trunk; without a trunk there is no limit, nor for a call that replaces another one.
   *
   * @returns releases the channel, safe to call twice; undefined when all channels are in use.
   */
  take(trunk: Trunk | undefined, isReplacing = false): (() => void) | undefined {
    if (trunk === undefined) return () => {};
    const inUse = this.inUse(trunk);
    const isFull = trunk.maxCalls !== undefined && inUse >= trunk.maxCalls;
    if (isFull && !isReplacing) return undefined;
    add(this.#inUse, trunk.name, 1);
    add(this.#taken, trunk, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#release(trunk);
      isTaken = false;
    };
  }

  /** Settings of the calls in progress, each once. */
  get trunks(): readonly Trunk[] {
    return [...this.#taken.keys()];
  }

  /**
   * Takes the next turn of a trunk that has a `callsPerSecond`.
   *
   * @returns milliseconds until the turn; undefined, and no turn is taken, when that is more than `waitMsMax`.
   */
  takeTurn(
    { name, callsPerSecond }: Trunk,
    nowMs: number,
    waitMsMax = Number.POSITIVE_INFINITY,
  ): number | undefined {
    if (callsPerSecond === undefined) return 0;
    const turnAtMs = Math.max(nowMs, this.#nextDialAtMs.get(name) ?? 0);
    if (turnAtMs - nowMs > waitMsMax) return undefined;
    for (const [each, atMs] of this.#nextDialAtMs) {
      if (atMs <= nowMs) this.#nextDialAtMs.delete(each);
    }
    this.#nextDialAtMs.set(name, turnAtMs + 1000 / callsPerSecond);
    return turnAtMs - nowMs;
  }

  /**
   * Route through a trunk.
   *
   * @param state.problem reason why the trunk takes no calls; undefined while it takes them.
   * @param state.isUncertain true when only a call can show whether the trunk is alive: it has one channel then.
   */
  routeThrough(
    trunk: Trunk,
    {
      problem,
      isUncertain = false,
    }: { readonly problem?: string | undefined; readonly isUncertain?: boolean } = {},
  ): TrunkRoute {
    const { name, callsPerSecond, maxCalls: total = Number.POSITIVE_INFINITY } = trunk;
    const usable = isUncertain ? 1 : total;
    const free = problem === undefined ? Math.max(0, usable - this.inUse(trunk)) : 0;
    const nextDialAtMs = this.#nextDialAtMs.get(name);
    return { trunk: name, callsPerSecond, nextDialAtMs, free, total, problem };
  }

  /** Channels of the trunk that are in use. */
  inUse({ name }: Pick<Trunk, 'name'>): number {
    return this.#inUse.get(name) ?? 0;
  }

  #release(trunk: Trunk): void {
    add(this.#inUse, trunk.name, -1);
    add(this.#taken, trunk, -1);
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
