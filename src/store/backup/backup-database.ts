/** Copies one SQLite database as it is at one moment, while others read and write it. */
import { chmodSync, closeSync, fsyncSync, openSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

/** Pages are copied so many at a time; between two steps the process may show how far it is. */
const PAGES_PER_STEP = 2000;

/** How far a copy is, in pages of the database. */
export interface CopyProgress {
  readonly donePages: number;
  readonly totalPages: number;
}

/**
 * Copies a database with SQLite's online backup. The copy is one file without a log beside it, whole and on the disk
 * when this resolves; only its owner may read it, because it holds signing secrets.
 *
 * @throws {Error} when it cannot be read, cannot be written, or the copy does not pass SQLite's own check.
 */
export async function copyDatabase(options: {
  readonly from: string;
  readonly to: string;
  readonly onProgress?: (progress: CopyProgress) => void;
}): Promise<void> {
  const { from, to, onProgress } = options;
  closeSync(openSync(to, 'wx', 0o600));
  const source = new Sqlite(from, { fileMustExist: true });
  try {
    // The open read holds the moment: without it, each write of another process would begin the copy anew.
    source.exec('begin');
    source.prepare('select count(*) from sqlite_master').get();
    await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress?.({ donePages: totalPages - remainingPages, totalPages });
        return PAGES_PER_STEP;
      },
    });
  } finally {
    source.close();
  }
  settle(to);
}

/** Makes a database one file, and checks it. @throws {Error} saying what SQLite found. */
function settle(file: string): void {
  chmodSync(file, 0o600);
  const sqlite = new Sqlite(file, { fileMustExist: true });
  try {
    sqlite.pragma('journal_mode=delete');
    compactIfDue(sqlite);
    const found = sqlite.pragma('integrity_check', { simple: true });
    if (found !== 'ok') throw new Error(`Cannot use the copy "${file}": ${String(found)}`);
  } finally {
    sqlite.close();
  }
  syncFile(file);
}

/** The copy has what erased rows left in unused space, and is written anew where the server has not come to it yet. */
function compactIfDue(sqlite: Sqlite.Database): void {
  const hasLeftovers = "select 1 from sqlite_master where name = 'erasure_leftovers'";
  if (sqlite.prepare(hasLeftovers).get() === undefined) return;
  const forget = sqlite.prepare("delete from erasure_leftovers where kind = 'pages'");
  if (forget.run().changes > 0) sqlite.exec('vacuum');
}

/** Returns when the file is on the disk, not only in the system's memory. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
