/** Saves a whole installation into a folder, while its server works: database, recordings, and a manifest. */

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeFolder, PRIVATE_FOLDER_MODE } from '../../lib/private-tree.ts';
import { type CopyProgress, copyDatabase } from './backup-database.ts';
import {
  BACKUP_DATABASE,
  type BackupManifest,
  sha256Of,
  writeManifest,
} from './backup-manifest.ts';
import { carryRecordings, type RecordingMode } from './backup-recordings.ts';

/**
 * Saves the database as it is now, and the recordings that it names. The folder appears under its name only when it
 * is whole.
 *
 * @param options.folder where to; must not exist, or be empty.
 * @throws {Error} saying what could not be read or written; then nothing is left of it.
 */
export async function makeBackup(options: {
  readonly databaseFile: string;
  readonly dataFolder: string;
  readonly folder: string;
  readonly recordings: RecordingMode;
  /** Of the server. */
  readonly version: string;
  readonly now: Date;
  readonly onProgress?: (progress: CopyProgress) => void;
}): Promise<BackupManifest> {
  const folder = resolve(options.folder);
  refuseFull(folder);
  makeFolder(dirname(folder), PRIVATE_FOLDER_MODE);
  const partial = mkdtempSync(`${folder}.partial-`);
  try {
    const manifest = await fill(partial, options);
    writeManifest(partial, manifest);
    // Minutes may have passed: what lies there by now is not ours to delete, and `rmdir` would not.
    refuseFull(folder);
    if (existsSync(folder)) rmdirSync(folder);
    renameSync(partial, folder);
    return manifest;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

async function fill(
  folder: string,
  options: Parameters<typeof makeBackup>[0],
): Promise<BackupManifest> {
  const { databaseFile, dataFolder, recordings: mode, version, now, onProgress } = options;
  const database = join(folder, BACKUP_DATABASE);
  await copyDatabase({ from: databaseFile, to: database, ...(onProgress && { onProgress }) });
  const recordings = await carryRecordings({ database, from: dataFolder, to: folder, mode });
  return {
    format: 1,
    version,
    createdAt: now.toISOString(),
    database: { sizeBytes: statSync(database).size, sha256: await sha256Of(database) },
    counts: countsOf(database),
    recordings: { included: mode !== 'none', ...recordings },
  };
}

function refuseFull(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory() || readdirSync(folder).length > 0) {
    throw new Error(`Cannot back up to "${folder}": it is there already and not an empty folder`);
  }
}

function countsOf(database: string): BackupManifest['counts'] {
  const sqlite = new Sqlite(database, { readonly: true, fileMustExist: true });
  try {
    const count = (table: string) =>
      Number(sqlite.prepare(`select count(*) from ${table}`).pluck().get());
    return {
      accounts: count('accounts'),
      agents: count('agents'),
      calls: count('calls'),
      events: count('events'),
    };
  } finally {
    sqlite.close();
  }
}
