/** Backup: a folder with the database of one moment, the recordings, and a manifest; made while the server works. */

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, copyFile, link, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, normalize, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { isRecordingPath } from '../../domain/call/recording-link.ts';
import {
  makeFolder,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  tighten,
} from '../../lib/private-tree.ts';
import { addKeys, keyFileOf, readKeys } from '../sqlite/sealed-columns.ts';
import { diskErrorOf } from './disk-error.ts';

/** `link` makes hard links where possible: no time, no space, and no safety from a failing disk. */
export type RecordingMode = 'copy' | 'link' | 'none';

/** Result of a copy. */
export interface CopiedRecordings {
  readonly files: number;
  readonly sizeBytes: number;
  /** Named by calls, but not there. */
  readonly missing: number;
}

interface NamedRecording {
  readonly recording_file: string;
  readonly ended_at: number | null;
}

/**
 * Copies every recording that the database's calls name.
 *
 * @throws {Error} when one cannot be written, or the database names a file elsewhere.
 */
export async function copyRecordings(options: {
  /** The database whose calls name them. */
  readonly database: string;
  /** Data folder or backup folder. */
  readonly from: string;
  readonly to: string;
  readonly mode: RecordingMode;
}): Promise<CopiedRecordings> {
  const copied = { files: 0, sizeBytes: 0, missing: 0 };
  if (options.mode === 'none') return copied;
  for (const { recording_file, ended_at } of namedBy(options.database)) {
    const file = recordingPath(recording_file);
    const from = join(options.from, file);
    const sizeBytes = await sizeOf(from);
    if (sizeBytes === undefined) {
      copied.missing += 1;
      continue;
    }
    // A recording that is still being written would go on changing through a link.
    const mode = ended_at === null ? 'copy' : options.mode;
    await copyOne(from, join(options.to, file), mode);
    copied.files += 1;
    copied.sizeBytes += sizeBytes;
  }
  return copied;
}

function namedBy(database: string): NamedRecording[] {
  const sqlite = new Sqlite(database, { readonly: true, fileMustExist: true });
  try {
    const query =
      'select recording_file, ended_at from calls where recording_file is not null order by id';
    return sqlite.prepare<[], NamedRecording>(query).all();
  } finally {
    sqlite.close();
  }
}

/** Guards against path traversal: a backup may come from anywhere, and must not overwrite other files. */
function recordingPath(file: string): string {
  if (!isRecordingPath(file)) {
    throw new Error(`Cannot copy recording "${file}": it lies outside the folder of recordings`);
  }
  return normalize(file);
}

/** Undefined for a missing file. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : undefined;
  } catch {
    return undefined;
  }
}

async function copyOne(from: string, to: string, mode: RecordingMode): Promise<void> {
  const folder = dirname(to);
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  tighten(folder);
  if (mode === 'link' && (await hasLinked(from, to))) {
    tighten(to);
    return;
  }
  // Not over the old file: that may be a link which another backup shares.
  const partial = `${to}.partial`;
  // Where the file system can, the copy shares its blocks until one of the two changes.
  await copyFile(from, partial, constants.COPYFILE_FICLONE);
  // A copy has the mode of its original.
  await chmod(partial, PRIVATE_FILE_MODE);
  await rename(partial, to);
}

/** False where the file system has no links, or the folders lie on different ones. */
async function hasLinked(from: string, to: string): Promise<boolean> {
  try {
    await rm(to, { force: true });
    await link(from, to);
    return true;
  } catch {
    return false;
  }
}

/** The database's name inside a backup folder. */
export const BACKUP_DATABASE = 'offhook.db';

/** Written last: a folder without one is no backup. */
const MANIFEST = 'manifest.json';

const count = z.number().int().min(0);

const manifestSchema = z.object({
  format: z.literal(1),
  /** Version of the server that made it. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  database: z.object({
    sizeBytes: count,
    /** Lowercase hexadecimal. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /** Rows, so that people recognise the backup. */
  counts: z.object({ accounts: count, agents: count, calls: count, events: count }),
  recordings: z.object({
    /** False when it was made without them. */
    included: z.boolean(),
    files: count,
    sizeBytes: count,
    /** Recordings that calls name and that were not there. */
    missing: count,
  }),
});

/** Contents of `manifest.json`. */
export type BackupManifest = z.output<typeof manifestSchema>;

/**
 * Saves the database as it is now, and the recordings that it names. The folder appears under its name only when it is
 * complete.
 *
 * @param options.folder Must not exist, or be empty.
 * @throws {Error} naming what could not be read or written; no partial backup is left then.
 */
export async function makeBackup(options: {
  readonly databaseFile: string;
  readonly dataFolder: string;
  readonly folder: string;
  readonly recordings: RecordingMode;
  /** Version of the server. */
  readonly version: string;
  readonly now: Date;
}): Promise<BackupManifest> {
  const folder = resolve(options.folder);
  refuseFull(folder);
  let partial: string | undefined;
  try {
    makeFolder(dirname(folder), PRIVATE_FOLDER_MODE);
    partial = mkdtempSync(`${folder}.partial-`);
    const manifest = await fill(partial, options);
    const path = join(partial, MANIFEST);
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`, { mode: PRIVATE_FILE_MODE });
    syncFile(path);
    // Minutes may have passed: a file that came into the folder since is not ours to delete, and `rmdir` would not.
    refuseFull(folder);
    if (existsSync(folder)) rmdirSync(folder);
    renameSync(partial, folder);
    return manifest;
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
    throw diskErrorOf(error, `Cannot back up to "${folder}"`);
  }
}

function refuseFull(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory() || readdirSync(folder).length > 0) {
    throw new Error(`Cannot back up to "${folder}": it is there already and not an empty folder`);
  }
}

async function fill(
  folder: string,
  options: Parameters<typeof makeBackup>[0],
): Promise<BackupManifest> {
  const { databaseFile, dataFolder, recordings: mode, version, now } = options;
  const database = join(folder, BACKUP_DATABASE);
  copyDatabase({ from: databaseFile, to: database });
  copySecretsKey(databaseFile, database);
  const recordings = await copyRecordings({ database, from: dataFolder, to: folder, mode });
  return {
    format: 1,
    version,
    createdAt: now.toISOString(),
    database: { sizeBytes: statSync(database).size, sha256: await sha256Of(database) },
    counts: countsOf(database),
    recordings: { included: mode !== 'none', ...recordings },
  };
}

/** Copies the key, without which the passwords in the copy are lost. A key of the settings is the operator's to keep. */
function copySecretsKey(from: string, to: string): void {
  const keys = readKeys(keyFileOf(from));
  if (keys.length > 0) addKeys(keyFileOf(to), keys);
}

/**
 * Copies a database as it is at one moment, while others read and write it. The copy is one file without a log and without
 * unused space, which may hold erased rows; it is on the disk when this returns, and readable by its owner only: it holds
 * signing secrets.
 *
 * @throws {Error} when it cannot be read or written, or the copy fails SQLite's integrity check.
 */
export function copyDatabase({ from, to }: { readonly from: string; readonly to: string }): void {
  closeSync(openSync(to, 'wx', PRIVATE_FILE_MODE));
  onDatabase(from, (source) => source.prepare('vacuum into ?').run(to));
  onDatabase(to, (copy) => {
    copy.pragma('journal_mode=delete');
    copy.exec("delete from erasure_leftovers where kind = 'pages'");
    const found = copy.pragma('integrity_check', { simple: true });
    if (found !== 'ok') throw new Error(`Cannot use the copy "${to}": ${String(found)}`);
  });
  syncFile(to);
}

function onDatabase<Result>(file: string, work: (sqlite: Sqlite.Database) => Result): Result {
  const sqlite = new Sqlite(file, { fileMustExist: true });
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

function countsOf(database: string): BackupManifest['counts'] {
  return onDatabase(database, (sqlite) => {
    const rowsOf = (table: string) =>
      Number(sqlite.prepare(`select count(*) from ${table}`).pluck().get());
    return {
      accounts: rowsOf('accounts'),
      agents: rowsOf('agents'),
      calls: rowsOf('calls'),
      events: rowsOf('events'),
    };
  });
}

/** Returns when the file is on the disk, not only in the system's memory. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/**
 * Reads a backup's manifest, and checks the database against its SHA-256.
 *
 * @throws {Error} saying why the folder is not a usable backup.
 */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const notUsable = (why: string, cause?: unknown) =>
    new Error(`Cannot use "${folder}" as a backup: ${why}`, { cause });
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: unknown) => {
    throw notUsable(`it has no readable ${MANIFEST}`, error);
  });
  let manifest: BackupManifest;
  try {
    manifest = manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    throw notUsable(`its ${MANIFEST} is not one of this version`, error);
  }
  const sha256 = await sha256Of(join(folder, BACKUP_DATABASE)).catch((error: unknown) => {
    throw notUsable('its database cannot be read', error);
  });
  if (sha256 !== manifest.database.sha256) {
    throw notUsable('its database is not the one that was saved (wrong SHA-256)');
  }
  return manifest;
}

/** SHA-256 of a file's bytes, lowercase hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
