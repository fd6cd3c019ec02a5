/** Composition root: owners of telephone numbers, and the warnings about them at the start. */
import { NumberOwners, strangersOn } from '../domain/dialing/number-owner.ts';
import type { HeldNumber } from '../domain/dialing/phone-number.ts';
import type { Trunks } from '../domain/dialing/trunk.ts';
import type { Logger } from '../lib/logger.ts';
import type { Store } from '../store/store.ts';
import { TrunkSettingsError } from '../telephony/trunks/trunks.ts';

/** Agents that one log line names at most. */
const NAMED_MAX = 20;

type NumberStores = Pick<Store, 'accounts' | 'numberAssignments' | 'numberHolders'>;

/** Makes the look-up of a number's account. */
export function openNumberOwners(from: {
  readonly store: NumberStores;
  readonly trunks: Trunks;
}): NumberOwners {
  const { store, trunks } = from;
  const { accounts, numberAssignments: assignments } = store;
  return new NumberOwners({ accounts, assignments, trunks });
}

/**
 * Warns of agents whose number is in doubt: held since before numbers belonged to accounts, or brought by a trunk of
 * another account.
 *
 * @throws {TrunkSettingsError} when a trunk names an account that does not exist.
 */
export async function checkNumbers(from: {
  readonly store: NumberStores;
  readonly trunks: Trunks;
  readonly owners: NumberOwners;
  readonly log: Logger;
}): Promise<void> {
  const { store, trunks, owners, log } = from;
  const known = new Set((await store.accounts.list()).map(({ id }) => id));
  const astray = trunks.list().find(({ account }) => account !== null && !known.has(account));
  if (astray !== undefined) {
    throw new TrunkSettingsError(
      `Cannot use trunk "${astray.name}": account: there is no account "${astray.account}"; "npm run admin -- account list" shows them`,
    );
  }
  const holders = store.numberHolders;
  const upgraded = (await store.numberAssignments.list())
    .filter(({ assignedBy }) => assignedBy === 'upgrade')
    .map(({ number }) => number);
  const kept = (await holders.everyLive()).filter(
    ({ number }) => upgraded.includes(number) && trunks.accountOf(number) !== undefined,
  );
  warn(
    kept,
    'numbers: agents answer trunk numbers that they had before numbers belonged to accounts; confirm each with "npm run admin -- number assign"',
  );
  warn(
    await strangersOn({ holders, owners }),
    'numbers: agents do not answer, because their number belongs to another account; see "npm run admin -- number list"',
  );

  function warn(held: readonly HeldNumber[], message: string): void {
    if (held.length === 0) return;
    const agents = held
      .slice(0, NAMED_MAX)
      .map(({ agentId, accountId }) => ({ agentId, accountId }));
    log.warn({ agents, count: held.length }, message);
  }
}
