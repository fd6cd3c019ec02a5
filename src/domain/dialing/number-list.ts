/** The list of telephone numbers, with owner and agent of each. */

import type { Scope } from '../agent/agent.ts';
import type { PageRange } from '../ids.ts';
import type { NumberAssignments, NumberOwners } from './number-owner.ts';
import type { HeldNumber, NumberHolders } from './phone-number.ts';
import type { Trunks } from './trunk.ts';

/** A telephone number with its trunks, owner and agent. */
export interface ListedNumber {
  /** E.164, or the beginning of numbers and a star. */
  readonly number: string;
  readonly trunks: readonly string[];
  /** Account id of its owner; undefined where no trunk has it and it is not assigned. */
  readonly owner: string | undefined;
  /** Undefined where no agent of the asking account holds it. */
  readonly holder: HeldNumber | undefined;
  /** Whether any agent holds it, of this account or another. */
  readonly isTaken: boolean;
}

interface NumberParts {
  readonly trunks: Trunks;
  readonly holders: NumberHolders;
  readonly owners: NumberOwners;
  readonly assignments: Pick<NumberAssignments, 'list'>;
}

/**
 * The page of numbers that an account is shown: those of its agents, and in the live environment those of the trunks and
 * of assignments that belong to it. No trunk leads to the sandbox.
 *
 * @param scope.isOperator shows the numbers of all accounts.
 */
export async function numberPage(
  parts: NumberParts,
  scope: Scope & { readonly isOperator: boolean },
  page: PageRange,
): Promise<{ readonly numbers: readonly ListedNumber[]; readonly total: number }> {
  const { trunks, holders, owners } = parts;
  const isLive = scope.environment === 'live';
  const ownerOf = await owners.readAll();
  const own = new Map((await holders.ofScope(scope)).map((held) => [held.number, held]));
  const known = isLive
    ? [...trunks.numbers, ...(await parts.assignments.list()).map(numberOf)]
    : [];
  const shown = known.filter((number) => scope.isOperator || ownerOf(number) === scope.accountId);
  const all = [...new Set([...shown, ...own.keys()])].sort();
  const numbers: ListedNumber[] = [];
  for (const number of all.slice(page.offset, page.offset + page.limit)) {
    const holder = own.get(number);
    numbers.push(
      isLive
        ? await liveNumber(parts, scope, number)
        : { number, trunks: [], owner: undefined, holder, isTaken: holder !== undefined },
    );
  }
  return { numbers, total: all.length };
}

/** One number as an account is shown it in the live environment. */
export async function liveNumber(
  { trunks, holders, owners }: NumberParts,
  { accountId }: Pick<Scope, 'accountId'>,
  number: string,
): Promise<ListedNumber> {
  const holder = await holders.liveHolderOf(number);
  return {
    number,
    trunks: trunks.trunksOf(number),
    owner: await owners.ownerOf(number),
    holder: holder?.accountId === accountId ? holder : undefined,
    isTaken: holder !== undefined,
  };
}

function numberOf({ number }: { readonly number: string }): string {
  return number;
}
