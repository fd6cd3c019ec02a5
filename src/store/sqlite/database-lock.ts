/** The lock of a database: one process at a time works on it. */
import { dirname } from 'node:path';
import { makeFolder, PRIVATE_FOLDER_MODE } from '../../lib/private-tree.ts';
import { type FileLock, lockFile } from '../../lib/process/file-lock.ts';
import { messageOf } from '../../lib/unknown-value.ts';

/** Another process works on the database. */
export class DatabaseInUseError extends Error {
  override readonly name = 'DatabaseInUseError';
}

/**
 * Takes the lock of a database, `<file>.lock` in the same folder: a server while it runs, a restore while it changes files.
 *
 * @throws {DatabaseInUseError} when another process holds it.
 * @throws {Error} when the lock file cannot be made.
 */
export function lockDatabase(file: string): FileLock {
  makeFolder(dirname(file), PRIVATE_FOLDER_MODE);
  const lock = lockOf(`${file}.lock`);
  if (lock !== undefined) return lock;
  throw new DatabaseInUseError(
    `Cannot use the database "${file}": another Offhook process works on it`,
  );
}

function lockOf(path: string): FileLock | undefined {
  try {
    return lockFile(path);
  } catch (error) {
    throw new Error(`Cannot make the lock file "${path}": ${messageOf(error)}`, { cause: error });
  }
}
