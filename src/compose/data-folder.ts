/** Composition root: the data folder at the start: private folders, a usable database file, recovery after a crash. */
import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { recoverCalls } from '../call/recovery.ts';
import { type Config, databaseFileOf } from '../config/config.ts';
import { ConfigError } from '../config/secret-files.ts';
import { RECORDINGS } from '../domain/call/recording-link.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { makeFolder, PRIVATE_FOLDER_MODE, tightenTree } from '../lib/private-tree.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { repairWav } from '../media/recording/wav-file.ts';
import type { Store } from '../store/store.ts';

/** @throws {ConfigError} naming the setting that asks for a folder that cannot be made. */
export function makeDataFolders(config: Config): void {
  makeFolderFor('DATA_DIR', join(config.DATA_DIR, RECORDINGS));
  makeFolderFor('DATABASE_URL', dirname(databaseFileOf(config)));
}

/**
 * Refuses an empty database file in a folder that has recordings: a copy or a restore has failed.
 *
 * @throws {ConfigError} saying what to do.
 */
export function refuseEmptyDatabase(config: Config): void {
  const file = databaseFileOf(config);
  if (statSync(file, { throwIfNoEntry: false })?.size !== 0) return;
  const folder = join(config.DATA_DIR, RECORDINGS);
  const recordings = readdirSync(folder).length;
  if (recordings === 0) return;
  throw new ConfigError(
    `Cannot use the database "${file}": it is empty, and "${folder}" has ${recordings} recordings of calls that it does not know; bring back a backup with "npm run admin -- restore", or remove the empty file to begin with a new account`,
  );
}

function makeFolderFor(setting: keyof Config, folder: string): void {
  try {
    makeFolder(folder, PRIVATE_FOLDER_MODE);
  } catch (error) {
    const why = messageOf(error);
    const problem = `Cannot use ${setting}: the folder "${folder}" cannot be made: ${why}`;
    throw new ConfigError(problem, { cause: error });
  }
}

/**
 * Removes other users' access to the data folder and its contents, in the background: an older version, a copy or an
 * unpacked archive may have left it readable. Logs the number of changed files.
 *
 * @returns a function that stops it; safe to call twice.
 */
export function startTightening(parts: { readonly config: Config; readonly log: Logger }) {
  const stop = new AbortController();
  tightenAll(parts, stop.signal).catch((error: unknown) => {
    parts.log.warn({ err: error }, 'access to the data folder could not be checked');
  });
  return () => stop.abort();
}

async function tightenAll(
  { config, log }: { readonly config: Config; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const recordings = join(config.DATA_DIR, RECORDINGS);
  const folders = [
    config.DATA_DIR,
    ...(lstatSync(recordings).isSymbolicLink() ? [recordings] : []),
  ];
  for (const folder of folders) {
    const { tightened, refused } = await tightenTree(folder, signal);
    if (tightened > 0) {
      log.info({ folder, tightened }, 'files that other users could read are private now');
    }
    if (refused > 0) {
      log.warn(
        { folder, refused },
        'other users can read files here: their mode cannot be changed',
      );
    }
  }
}

/** Ends the calls that an earlier process left unfinished, on record, and repairs their recordings. */
export async function recover(parts: {
  readonly config: Config;
  readonly store: Pick<Store, 'calls' | 'dialogs'>;
  readonly newId: NewId;
  readonly log: Logger;
}): Promise<void> {
  const { config, log, store, newId } = parts;
  await recoverCalls({
    calls: store.calls,
    dialogs: await store.dialogs.all(),
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

/** The key of recording links; created at the first start. */
export async function recordingSecretOf(store: Pick<Store, 'secrets'>): Promise<string> {
  return store.secrets.ensure('recording-links', () => randomBytes(32).toString('hex'));
}
