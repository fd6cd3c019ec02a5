/** Keeps two runs of the command from working on one folder of models. */

import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeFolder } from '../lib/private-tree.ts';
import { diskError, ModelsError } from './models-error.ts';

export interface RunLock {
  /** Safe to call twice. */
  release(): void;
}

/**
 * Takes the lock of a folder: an open transaction on an empty SQLite database, which the operating system gives back when
 * the process dies, however it dies. Node has no file locks of its own.
 *
 * @throws {ModelsError} `busy` when another run holds it.
 */
export function lockFolder(modelsDir: string): RunLock {
  const path = join(modelsDir, '.models.lock');
  let sqlite: Sqlite.Database | undefined;
  try {
    makeFolder(modelsDir);
    const open = new Sqlite(path, { timeout: 0 });
    sqlite = open;
    // Nothing is ever written: no journal is needed beside it.
    open.pragma('journal_mode=memory');
    open.exec('begin exclusive');
    return { release: () => open.close() };
  } catch (error) {
    sqlite?.close();
    throw lockError(error, modelsDir, path);
  }
}

function lockError(error: unknown, modelsDir: string, path: string): ModelsError {
  if (!(error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY'))) {
    return diskError(error, path);
  }
  return new ModelsError(
    'busy',
    `Cannot work on "${modelsDir}": another run of this command is at it; wait for it to end`,
    { cause: error },
  );
}
