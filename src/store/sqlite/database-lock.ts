/** The lock of a database: one process at a time works on it. */
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeFolder, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '../../lib/private-tree.ts';
import { storeErrorOf } from './sqlite-file.ts';

/** Another process works on the database. */
export class DatabaseInUseError extends Error {
  override readonly name = 'DatabaseInUseError';
}

/** A lock that is held. */
export interface DatabaseLock {
  /** Safe to call twice. */
  release(): void;
}

/**
 * Takes the lock of a database, `<file>.lock` in the same folder: a server while it runs, a restore while it changes files. The
 * operating system releases it when the process dies.
 *
 * Node has no file locks: the lock is an empty SQLite database with an open exclusive transaction.
 *
 * @throws {DatabaseInUseError} when another process holds it.
 * @throws {Error} when the lock file cannot be made.
 */
export function lockDatabase(file: string): DatabaseLock {
  const path = `${file}.lock`;
  makeFolder(dirname(file), PRIVATE_FOLDER_MODE);
  let sqlite: Sqlite.Database | undefined;
  try {
    closeSync(openSync(path, 'a', PRIVATE_FILE_MODE));
    const open = new Sqlite(path, { timeout: 0 });
    sqlite = open;
    // Nothing is ever written, so no journal is needed.
    open.pragma('journal_mode=memory');
    open.exec('begin exclusive');
    return { release: () => open.close() };
  } catch (error) {
    sqlite?.close();
    if (storeErrorOf(error, path)?.reason === 'locked') {
      throw new DatabaseInUseError(
        `Cannot use the database "${file}": another Offhook process works on it`,
        { cause: error },
      );
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot make the lock file "${path}": ${why}`, { cause: error });
  }
}
