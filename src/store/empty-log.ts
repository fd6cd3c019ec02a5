/** Empties SQLite's log, which keeps rows as they were before they were changed until it is written over. */
import type Sqlite from 'better-sqlite3';

/** What a checkpoint says of itself. */
interface Checkpoint {
  /** 1 when others were reading or writing, so that it is not complete. */
  readonly busy: number;
}

/**
 * Brings the log into the database file and cuts it to length 0. Most of it goes in beside writers; the rest is done
 * under the write lock, in a moment, so that nobody waits.
 *
 * @returns false when another connection was in the way.
 */
export function emptyLog(sqlite: Sqlite.Database): boolean {
  sqlite.pragma('wal_checkpoint(PASSIVE)');
  const [checkpoint] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as readonly Checkpoint[];
  return checkpoint?.busy === 0;
}
