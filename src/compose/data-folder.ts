/** Composition root: the folders of calls and secrets, which only the server's user may read. */
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Recordings } from '../call/session/call-parts.ts';
import { type Config, ConfigError, databaseFileOf } from '../config/config.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { Logger } from '../lib/logger.ts';
import { makeFolder, PRIVATE_FOLDER_MODE, tightenTree } from '../lib/private-tree.ts';
import { WAV_HEADER_BYTES } from '../media/recording/wav-format.ts';

/** @throws {ConfigError} naming the setting that asks for a folder that cannot be made. */
export function makeDataFolders(config: Config): void {
  makeFolderFor('DATA_DIR', join(config.DATA_DIR, RECORDINGS));
  makeFolderFor('DATABASE_URL', dirname(databaseFileOf(config)));
}

/**
 * An empty file is no database of a first start where recordings lie beside it: a copy or a restore has gone wrong.
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
    const why = error instanceof Error ? error.message : String(error);
    const problem = `Cannot use ${setting}: the folder "${folder}" cannot be made: ${why}`;
    throw new ConfigError(problem, { cause: error });
  }
}

/**
 * Removes other users' access to the data folder and all that it holds, in the background: an older version, a copy or
 * an unpacked archive may have left it open. Logs one line where something was open.
 *
 * @returns stops it; safe to call twice.
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

/** The folder of recordings inside the data folder. */
export const RECORDINGS = 'recordings';

/** Recordings in the data folder; none begins while its disk is short of room. */
export function openRecordings(parts: {
  readonly config: Pick<Config, 'DATA_DIR'>;
  readonly disk: Pick<DiskSpace, 'isShort' | 'state'>;
}): Recordings {
  const { config, disk } = parts;
  return {
    start: (callId, leg) => {
      if (disk.isShort) throw new Error(`Cannot record call "${callId}": ${disk.state}`);
      const file = join(RECORDINGS, `${callId}.wav`);
      leg.record(join(config.DATA_DIR, file));
      return file;
    },
    hasSound: (file) => {
      const found = statSync(join(config.DATA_DIR, file), { throwIfNoEntry: false });
      return found !== undefined && found.size > WAV_HEADER_BYTES;
    },
  };
}
