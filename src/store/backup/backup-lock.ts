/** Tells whether a server works on a database, and keeps a second one away from it. */
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeFolder, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '../../lib/private-tree.ts';
import { storeErrorOf } from '../sqlite/sqlite-file.ts';

/** Another process works on the database. */
export class DatabaseInUseError extends Error {
  override readonly name = 'DatabaseInUseError';
}

export interface DatabaseLock {
  /** Safe to call twice. */
  release(): void;
}

/**
 * Takes the lock of a database: `<file>.lock` beside it. A server holds it for as long as it runs; a restore holds it
 * while it changes files. The operating system lets go of it when the process dies, however it dies, so that nothing
 * has to be cleaned up and no process id is mistaken for another's.
 *
 * Node has no file locks of its own: an empty SQLite database with an open exclusive transaction has the same one
 * that SQLite uses.
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
    // Nothing is ever written: no journal is needed beside it.
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
