/** Composition root: the trunks of the operator's file; changes to the trunks of a running server, and their checks. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, readConfig, readSettingsFile } from '../config/config.ts';
import type { StoredTrunks, TrunkControl } from '../domain/dialing/trunk.ts';
import { ServiceError } from '../domain/service-error.ts';
import { readTrunkSettings } from '../telephony/trunks/trunk-registry.ts';
import { parseTrunks, type Trunk } from '../telephony/trunks/trunks.ts';
import { unreachableFault } from './addresses.ts';

/** Checks at a time; each has sockets of its own. */
const CHECKS_MAX = 4;

/** Reads, applies and checks the trunks of the database. */
export function openTrunkControl(from: {
  readonly telephony: Pick<TrunkControl, 'check'> & {
    useStored(stored: StoredTrunks): Promise<void>;
  };
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
    // The previous run reports its error to its own callers.
    waiting ??= newest.then(begin, begin);
    return waiting;
  };
}

/**
 * Reads the trunks of `SIP_TRUNKS`. A server that was installed as an npm package has no folder `sip-config` until its operator
 * makes one: it has no trunks of a file then, and the log says so.
 *
 * @throws {Error} naming the file and what is wrong in it.
 */
export function readTrunksFile({ SIP_TRUNKS }: Pick<Config, 'SIP_TRUNKS'>): readonly Trunk[] {
  const isGiven = SIP_TRUNKS !== readConfig({}).SIP_TRUNKS;
  if (!isGiven && !existsSync(dirname(SIP_TRUNKS))) return [];
  return parseTrunks(readSettingsFile(SIP_TRUNKS), SIP_TRUNKS);
}
