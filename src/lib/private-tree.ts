/** Removes other users' access to files and folders that hold calls, keys and secrets. */
import { chmodSync, type Dirent, existsSync, mkdirSync, statSync } from 'node:fs';
import { chmod, opendir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hasCode } from './unknown-value.ts';

/** Mode of a file that only the server's user may use. */
export const PRIVATE_FILE_MODE = 0o600;

/** Mode of a folder that only the server's user may use. */
export const PRIVATE_FOLDER_MODE = 0o700;

/** The permission bits of group and others. */
const OTHERS = 0o077;

/** Windows has no such bits: a user's own folders are private there. */
const HAS_MODES = process.platform !== 'win32';

/** Counts of `tightenTree`. */
export interface Tightened {
  /** Files and folders that other users had access to, and no longer have. */
  readonly tightened: number;
  /** Files and folders that still are open to other users, because they belong to another user or the file system refuses. */
  readonly refused: number;
}

/**
 * Removes the access of group and others to one file or folder; does nothing where it does not exist. A refusal, such as
 * for a file of another user, leaves it as it is: `tightenTree` counts refusals.
 */
export function tighten(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || !isOpen(found.mode)) return;
  try {
    chmodSync(path, privateMode(found.mode));
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/**
 * Removes the access of group and others to a folder and all that it holds. Symbolic links in it are not followed. A file
 * that disappears meanwhile is skipped.
 *
 * @param signal stops it between two files.
 * @throws {Error} of the file system, such as for a folder that cannot be read.
 */
export async function tightenTree(folder: string, signal?: AbortSignal): Promise<Tightened> {
  const counts = { tightened: 0, refused: 0 };
  await tightenOne(folder, counts);
  for await (const entry of await opendir(folder, { recursive: true })) {
    if (signal?.aborted) break;
    if (mayTighten(entry)) await tightenOne(join(entry.parentPath, entry.name), counts);
  }
  return counts;
}

function mayTighten(entry: Dirent): boolean {
  return entry.isFile() || entry.isDirectory();
}

async function tightenOne(
  path: string,
  counts: { tightened: number; refused: number },
): Promise<void> {
  try {
    const { mode } = await stat(path);
    if (!isOpen(mode)) return;
    await chmod(path, privateMode(mode));
    counts.tightened += 1;
  } catch (error) {
    if (isRefusal(error)) counts.refused += 1;
    else if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function isOpen(mode: number): boolean {
  return HAS_MODES && (mode & OTHERS) !== 0;
}

/** The mode without access of group and others. */
function privateMode(mode: number): number {
  return mode & 0o7777 & ~OTHERS;
}

function isRefusal(error: unknown): boolean {
  return hasCode(error, 'EPERM', 'EACCES', 'EROFS', 'ENOTSUP', 'ENOSYS', 'EINVAL');
}

/**
 * Makes the folder and its missing parents, one by one. Node's own recursive `mkdir` never ends in a file system
 * that answers each call with ENOENT, as `/proc` does.
 *
 * @param mode of each folder that is made.
 * @throws {Error} of the file system, naming the folder that could not be made; ENOTDIR where a file is in the way.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let there = resolve(path);
  for (; !existsSync(there); there = dirname(there)) missing.unshift(there);
  if (!statSync(there).isDirectory()) throw notFolder(there);
  for (const folder of missing) makeOne(folder, mode);
}

/** Another process may make the same one in the same moment. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

function notFolder(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' });
}
