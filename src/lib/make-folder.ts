/** Makes a folder where others may be missing above it. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes the folder and those above it, one by one. Node's own recursive way never ends where a file system answers
 * ENOENT to whoever makes something in it, as `/proc` does.
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
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function notFolder(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' });
}
