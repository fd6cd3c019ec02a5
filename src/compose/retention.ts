/** Composition root: erasure and retention. */
import type { Config } from '../config/config.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock as clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { ErasureRounds } from '../store/accounts/erasure-rounds.ts';
import { RetentionRounds, RetentionSweep } from '../store/accounts/retention-rounds.ts';
import type { Store } from '../store/store.ts';

/** Makes the rounds that finish erasures; nothing is started. */
export function openEraser(from: {
  readonly config: Pick<Config, 'DATA_DIR'>;
  readonly store: Pick<Store, 'accounts' | 'accountRetention' | 'erasures' | 'leftovers'>;
  readonly newId: NewId;
  /** Whether no call is in progress, so that the database file can be compacted. */
  readonly isQuiet: () => boolean;
  readonly log: Logger;
}): ErasureRounds {
  const { config, store, newId, isQuiet, log } = from;
  const { accounts, accountRetention: retention, erasures, leftovers } = store;
  const sweep = new RetentionSweep({ accounts, retention, newId, clock, log });
  const dataFolder = config.DATA_DIR;
  return new ErasureRounds({ erasures, sweep, leftovers, dataFolder, isQuiet, clock, log });
}

/** Begins to delete rows that are too old. @returns a function that stops it; safe to call twice. */
export function startRetention({ store, log }: { readonly store: Store; readonly log: Logger }) {
  const rounds = new RetentionRounds({ retention: store.retention, clock, log });
  rounds.start();
  return () => rounds.stop();
}
