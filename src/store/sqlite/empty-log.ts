/** Empties SQLite's log, which keeps rows as they were before they were changed until it is written over. */
import type Sqlite from 'better-sqlite3';

/** The end is done under the write lock, which waits for readers: other writers wait as long. */
const BUSY_MS = 20;

/** What a checkpoint says of itself. */
interface Checkpoint {
  /** 1 when others were reading or writing, so that it is not complete. */
  readonly busy: number;
}

/**
 * Brings the log into the database file and cuts it to length 0. Most of it goes in beside writers, the rest in a moment.
 *
 * @returns false when another connection was in the way.
 */
export function emptyLog(sqlite: Sqlite.Database): boolean {
  const usualMs = sqlite.pragma('busy_timeout', { simple: true });
  sqlite.pragma(`busy_timeout=${BUSY_MS}`);
  try {
    sqlite.pragma('wal_checkpoint(PASSIVE)');
    const [checkpoint] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as readonly Checkpoint[];
    return checkpoint?.busy === 0;
  } finally {
    sqlite.pragma(`busy_timeout=${usualMs}`);
  }
}
