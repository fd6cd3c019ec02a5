/** Composition root: changes to the trunks of a running server, and their checks. */
import type { StoredTrunks, TrunkControl } from '../../domain/dialing/trunk.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { readTrunkSettings } from '../../telephony/trunks/trunk-registry.ts';
import type { Telephony } from '../telephony.ts';

/** Checks at a time; each has sockets of its own. */
const CHECKS_MAX = 4;

const TOO_MANY = new ServiceError(
  'CONFLICT',
  `Cannot check the trunk now: ${CHECKS_MAX} checks are in progress; try again in a minute`,
);

/** Reads, applies and checks the trunks of the database. */
export function openTrunkControl(from: {
  readonly telephony: Pick<Telephony, 'useStored' | 'check'>;
  readonly store: { readonly storedTrunks: StoredTrunks };
}): TrunkControl {
  const { telephony, store } = from;
  // One after the other: an older list must not come into effect after a newer one.
  let applied: Promise<void> = Promise.resolve();
  let checks = 0;
  return {
    read: readTrunkSettings,
    reload: () => {
      const next = applied.then(() => telephony.useStored(store.storedTrunks));
      applied = next.catch(() => undefined);
      return next;
    },
    check: async (name) => {
      if (checks >= CHECKS_MAX) throw TOO_MANY;
      checks += 1;
      try {
        return await telephony.check(name);
      } finally {
        checks -= 1;
      }
    },
  };
}
