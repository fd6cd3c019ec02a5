/** Tells what SQLite's errors mean for us; pure */
import Sqlite from 'better-sqlite3';
import { StoreError, type StoreErrorReason } from '../../domain/service-error.ts';

/** Primary result codes that are the world's fault. @see https://www.sqlite.org/rescode.html */
const REASONS: Readonly<Record<string, StoreErrorReason>> = {
  SQLITE_FULL: 'full',
  SQLITE_READONLY: 'read-only',
  SQLITE_BUSY: 'locked',
  SQLITE_LOCKED: 'locked',
  SQLITE_PROTOCOL: 'locked',
  SQLITE_IOERR: 'broken',
  SQLITE_CORRUPT: 'broken',
  SQLITE_CANTOPEN: 'broken',
  SQLITE_NOTADB: 'broken',
  SQLITE_PERM: 'broken',
  SQLITE_AUTH: 'broken',
};

const STATES: Readonly<Record<StoreErrorReason, string>> = {
  full: 'the disk is full',
  'read-only': 'it can only be read',
  locked: 'another process holds its lock',
  broken: 'the disk fails or the file is damaged',
};

/** Runs `work`; what the world did wrong comes out as `StoreError`, everything else as it was. */
export function guarded<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeErrorOf(error, file) ?? error;
  }
}

/** The typed error, or undefined when it is a mistake of ours, such as a broken constraint. */
export function storeErrorOf(error: unknown, file: string): StoreError | undefined {
  if (!(error instanceof Sqlite.SqliteError)) return undefined;
  const reason = REASONS[primaryCode(error.code)];
  if (reason === undefined) return undefined;
  const message = `Cannot use the database "${file}": ${STATES[reason]} (${error.code})`;
  return new StoreError(message, reason, { cause: error });
}

/** `SQLITE_IOERR_WRITE` is a kind of `SQLITE_IOERR`. */
function primaryCode(code: string): string {
  return code.split('_').slice(0, 2).join('_');
}
