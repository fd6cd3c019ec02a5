/** Locks between processes: an open transaction on an empty SQLite database, because Node has no file locks of its own. */
import { closeSync, openSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { PRIVATE_FILE_MODE } from '../private-tree.ts';

/** A lock that is held. */
export interface FileLock {
  /** Safe to call twice. */
  release(): void;
}

/**
 * Locks a file, which is created when missing. The operating system releases the lock however the process dies.
 *
 * @returns undefined when another process holds it.
 * @throws {Error} when the file cannot be created.
 */
export function lockFile(path: string): FileLock | undefined {
  closeSync(openSync(path, 'a', PRIVATE_FILE_MODE));
  const sqlite = new Sqlite(path, { timeout: 0 });
  try {
    // Nothing is ever written, so no journal is needed.
    sqlite.pragma('journal_mode=memory');
    sqlite.exec('begin exclusive');
    return { release: () => sqlite.close() };
  } catch (error) {
    sqlite.close();
    if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      return undefined;
    throw error;
  }
}
