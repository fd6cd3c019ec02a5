/** Refreshes the statistics by which SQLite chooses indexes. */
import type Sqlite from 'better-sqlite3';

/** Indexes of callers' telephone numbers. */
const PERSONAL = ['calls_by_caller', 'calls_by_called'];

/**
 * Runs `pragma optimize`. SQLite keeps some keys of each index as samples; those that are telephone numbers are deleted,
 * because no erasure would find them there.
 *
 * @param mask 0x10002 looks at all tables, for a connection that has just been opened. @see https://sqlite.org/pragma.html#pragma_optimize
 */
export function refreshStatistics(sqlite: Sqlite.Database, mask?: '0x10002'): void {
  sqlite.pragma(mask === undefined ? 'optimize' : `optimize=${mask}`);
  const hasSamples = sqlite
    .prepare("select 1 from sqlite_master where name = 'sqlite_stat4'")
    .get();
  if (hasSamples === undefined) return;
  const isPersonal = PERSONAL.map(() => '?').join();
  const found = sqlite.prepare(`select 1 from sqlite_stat4 where idx in (${isPersonal}) limit 1`);
  // Writes only where there is something to delete: a server may be working on the database.
  if (found.get(...PERSONAL) === undefined) return;
  sqlite.prepare(`delete from sqlite_stat4 where idx in (${isPersonal})`).run(...PERSONAL);
}
