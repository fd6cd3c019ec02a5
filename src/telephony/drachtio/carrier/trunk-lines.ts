/** Counts the calls of each trunk against its `maxCalls`; pure */
import type { TrunkLine } from '../../trunks/trunk-line.ts';
import type { Trunk } from '../../trunks/trunks.ts';

export class TrunkLines {
  readonly #inUse = new Map<Trunk, number>();

  /**
   * Takes one line of the trunk.
   *
   * @returns gives it back, safe to call twice; undefined when all lines are in use.
   */
  take(trunk: Trunk | undefined): (() => void) | undefined {
    if (trunk === undefined) return () => {};
    const inUse = this.inUse(trunk);
    if (trunk.maxCalls !== undefined && inUse >= trunk.maxCalls) return undefined;
    this.#inUse.set(trunk, inUse + 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#inUse.set(trunk, this.inUse(trunk) - 1);
      isTaken = false;
    };
  }

  /**
   * @param state.problem why the carrier takes no calls now; undefined where it does.
   * @param state.isUncertain whether only a call can show that; then there is one line.
   */
  lineOf(
    trunk: Trunk,
    {
      problem,
      isUncertain = false,
    }: { readonly problem?: string | undefined; readonly isUncertain?: boolean } = {},
  ): TrunkLine {
    const { name, callsPerSecond, maxCalls: total = Number.POSITIVE_INFINITY } = trunk;
    const usable = isUncertain ? 1 : total;
    const free = problem === undefined ? Math.max(0, usable - this.inUse(trunk)) : 0;
    return { trunk: name, callsPerSecond, free, total, problem };
  }

  inUse(trunk: Trunk): number {
    return this.#inUse.get(trunk) ?? 0;
  }
}
