/** Errors of the disk that a backup is written to or read from, in words; pure */
import { hasCode, messageOf } from '../../lib/unknown-value.ts';

/**
 * Puts what could not be done before an error of the system or of SQLite: these name temporary files, or "the disk" alone.
 *
 * @param what such as `Cannot back up to "/backup/monday"`.
 * @returns the error itself where it has no code of the system: it says what could not be done already.
 */
export function diskErrorOf(error: unknown, what: string): unknown {
  const isOfSystem = error instanceof Error && 'code' in error;
  if (!isOfSystem) return error;
  const isFull = hasCode(error, 'ENOSPC', 'EDQUOT', 'SQLITE_FULL');
  return new Error(`${what}: ${isFull ? 'its disk is full' : messageOf(error)}`, { cause: error });
}
