/** Which telephone numbers there are, and which agent answers each; and the contract of the store that knows. */
import type { Scope } from './agent.ts';
import type { Trunks } from './trunk-state.ts';

/** A number that an agent holds. */
export interface HeldNumber {
  readonly number: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly accountId: string;
}

export interface NumberHolders {
  /** Numbers of the scope's agents, sorted. */
  ofScope(scope: Scope): readonly HeldNumber[];

  /** Who answers the number in the live environment, whichever account it is of. */
  liveHolderOf(number: string): HeldNumber | undefined;
}

export interface ListedNumber {
  /** E.164, or the beginning of numbers and a star. */
  readonly number: string;
  readonly trunks: readonly string[];
  /** Undefined where no agent of the asking account holds it. */
  readonly holder: HeldNumber | undefined;
  /** Whether any agent holds it, of this account or another. */
  readonly isTaken: boolean;
}

/**
 * The page of numbers that an account is shown: those of its agents, and in the live environment those of the trunks,
 * which are all accounts' alike. No trunk leads to the sandbox.
 */
export function numberPage(
  parts: { readonly trunks: Trunks; readonly holders: NumberHolders },
  scope: Scope,
  page: { readonly limit: number; readonly offset: number },
): { readonly numbers: readonly ListedNumber[]; readonly total: number } {
  const { trunks, holders } = parts;
  const isLive = scope.environment === 'live';
  const own = new Map(holders.ofScope(scope).map((held) => [held.number, held]));
  const all = isLive ? [...new Set([...trunks.numbers, ...own.keys()])].sort() : [...own.keys()];
  const shown = all.slice(page.offset, page.offset + page.limit);
  const numbers = shown.map((number): ListedNumber => {
    const holder = own.get(number);
    const isTaken = holder !== undefined || (isLive && holders.liveHolderOf(number) !== undefined);
    return { number, trunks: isLive ? trunks.trunksOf(number) : [], holder, isTaken };
  });
  return { numbers, total: all.length };
}
