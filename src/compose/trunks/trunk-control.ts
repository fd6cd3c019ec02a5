/** Composition root: changes to the trunks of a running server, and their checks. */
import type { Config } from '../../config/config.ts';
import type { StoredTrunks, TrunkControl } from '../../domain/dialing/trunk.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { readTrunkSettings } from '../../telephony/trunks/trunk-registry.ts';
import { unreachableFault } from '../addresses.ts';
import type { Telephony } from '../telephony.ts';

/** Checks at a time; each has sockets of its own. */
const CHECKS_MAX = 4;

/** Reads, applies and checks the trunks of the database. */
export function openTrunkControl(from: {
  readonly telephony: Pick<Telephony, 'useStored' | 'check'>;
  readonly store: { readonly storedTrunks: StoredTrunks };
  readonly config: Pick<Config, 'SIP_HOST' | 'TELEPHONY'>;
}): TrunkControl {
  const { config, telephony, store } = from;
  let checks = 0;
  return {
    read: (settings) => readTrunkSettings(settings, unreachableFault(config)),
    reload: oneAtATime(() => telephony.useStored(store.storedTrunks)),
    check: async (name, watch) => {
      if (checks >= CHECKS_MAX) throw tooMany();
      checks += 1;
      try {
        return await telephony.check(name, watch);
      } finally {
        checks -= 1;
      }
    },
  };
}

function tooMany(): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    `Cannot check the trunk now: ${CHECKS_MAX} checks are in progress; retry later`,
  );
}

/**
 * An older list must not come into effect after a newer one. However many changes come during a run, one more run after
 * it reads them all.
 */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let newest: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  const begin = () => {
    waiting = undefined;
    newest = work();
    return newest;
  };
  return () => {
    // The run before has told its own callers why it failed.
    waiting ??= newest.then(begin, begin);
    return waiting;
  };
}
