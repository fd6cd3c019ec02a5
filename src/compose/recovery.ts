/** Composition root: what a start does about the calls that a process before it left behind. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { recoverCalls } from '../call/recovery.ts';
import type { Config } from '../config/config.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { repairWav } from '../media/recording/wav-repair.ts';
import type { Store } from '../store/store.ts';

/** Ends them on record, and makes their recordings whole. */
export async function recover(parts: {
  readonly config: Config;
  readonly store: Store;
  readonly newId: NewId;
  readonly log: Logger;
}): Promise<void> {
  const { config, log, store, newId } = parts;
  await recoverCalls({
    calls: store.calls,
    dialogs: store.dialogs.all(),
    recordingPath: (file) => join(config.DATA_DIR, file),
    repairRecording,
    newId,
    now: systemClock.now(),
    log,
  });
}

async function repairRecording(path: string) {
  const repair = await repairWav(path);
  if (repair.outcome === 'empty') await rm(path);
  return repair;
}
