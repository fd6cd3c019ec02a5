/** Copies the recordings that a database names from one data folder to another. */
import { constants } from 'node:fs';
import { chmod, copyFile, link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import Sqlite from 'better-sqlite3';
import { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE, tighten } from '../../lib/private-tree.ts';

/** All recordings lie in this folder of the data folder. */
const FOLDER = 'recordings/';

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
  const path = normalize(file);
  if (!path.startsWith(FOLDER)) {
    throw new Error(`Cannot copy recording "${file}": it lies outside the folder of recordings`);
  }
  return path;
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
