/** The SQLite file: its lock, opening, error mapping, log (WAL) and statistics. */
import { closeSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { StoreError, type StoreErrorReason } from '../../domain/service-error.ts';
import {
  makeFolder,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  tighten,
} from '../../lib/private-tree.ts';
import { type FileLock, lockFile } from '../../lib/process/file-lock.ts';
import { messageOf } from '../../lib/unknown-value.ts';

/** Time that a start waits while another process migrates. */
const OPENING_BUSY_MS = 5000;

const WAL_SIZE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Opens the file with the settings that keep it whole when the process dies, and creates it when missing. It holds
 * signing secrets: only its owner may read it, and the log that SQLite makes inherits its mode.
 *
 * @throws {Error} naming the file and why it cannot be used.
 */
export function openFile(file: string): Sqlite.Database {
  try {
    closeSync(openSync(file, 'a', PRIVATE_FILE_MODE));
    for (const suffix of ['', '-wal', '-shm']) tighten(`${file}${suffix}`);
    const sqlite = new Sqlite(file, { timeout: OPENING_BUSY_MS });
    try {
      configure(sqlite);
    } catch (error) {
      sqlite.close();
      throw error;
    }
    return sqlite;
  } catch (error) {
    throw cannotOpen(file, error);
  }
}

function configure(sqlite: Sqlite.Database): void {
  sqlite.pragma('journal_mode=WAL');
  sqlite.pragma('synchronous=NORMAL');
  sqlite.pragma('foreign_keys=ON');
  sqlite.pragma('temp_store=MEMORY');
  // Deleted rows are overwritten; FAST would leave whole pages, which hold most of a transcript, as they were.
  sqlite.pragma('secure_delete=ON');
  sqlite.pragma(`journal_size_limit=${WAL_SIZE_BYTES_MAX}`);
}

/** The error of a database that cannot be opened. */
export function cannotOpen(file: string, error: unknown): Error {
  const known = storeErrorOf(error, file);
  if (known !== undefined) return known;
  return new Error(`Cannot open the database "${file}": ${messageOf(error)}`, { cause: error });
}

/** Primary result codes that have their cause outside this program. @see https://www.sqlite.org/rescode.html */
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

/** The typed error; undefined for a bug of ours, such as a violated constraint. */
export function storeErrorOf(error: unknown, file: string): StoreError | undefined {
  if (!(error instanceof Sqlite.SqliteError)) return undefined;
  // `SQLITE_IOERR_WRITE` is a kind of `SQLITE_IOERR`.
  const reason = REASONS[error.code.split('_').slice(0, 2).join('_')];
  if (reason === undefined) return undefined;
  const message = `Cannot use the database "${file}": ${STATES[reason]} (${error.code})`;
  return new StoreError(message, reason, { cause: error });
}

/** Magic numbers of statfs(2). @see linux/magic.h */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
  [0x564c, 'NetWare'],
  [0x0bd00bd0, 'Lustre'],
]);

/** Returns the type number of the file system that a folder is on. */
export type FileSystemTypeOf = (folder: string) => number;

/**
 * Refuses network file systems, where SQLite's locks cannot be trusted.
 *
 * @throws {Error} naming the folder and its file system.
 */
export function refuseNetworkFileSystem(
  folder: string,
  typeOf: FileSystemTypeOf = (path) => statfsSync(path).type,
): void {
  // The kernel gives a signed word on some machines.
  const name = NETWORK_FILE_SYSTEMS.get(typeOf(folder) >>> 0);
  if (name !== undefined) {
    throw new Error(
      `Cannot keep the database in "${folder}": it is on ${name}, and SQLite needs a local disk`,
    );
  }
}

/** The end of a checkpoint holds the write lock and waits for readers; other writers wait as long. */
const CHECKPOINT_BUSY_MS = 20;

/** Result of `wal_checkpoint`. */
interface Checkpoint {
  /** 1 when others were reading or writing, so that it is not complete. */
  readonly busy: number;
}

/**
 * Copies the log into the database file and truncates it: the log holds rows as they were before they were changed or
 * erased. Most of it is copied while others write.
 *
 * @returns false when another connection was in the way.
 */
export function emptyLog(sqlite: Sqlite.Database): boolean {
  const usualMs = sqlite.pragma('busy_timeout', { simple: true });
  sqlite.pragma(`busy_timeout=${CHECKPOINT_BUSY_MS}`);
  try {
    sqlite.pragma('wal_checkpoint(PASSIVE)');
    const [checkpoint] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as readonly Checkpoint[];
    return checkpoint?.busy === 0;
  } finally {
    sqlite.pragma(`busy_timeout=${usualMs}`);
  }
}

/** Indexes of callers' telephone numbers. */
const PERSONAL = ['calls_by_caller', 'calls_by_called'];

/**
 * Runs `pragma optimize`. SQLite keeps some keys of each index as samples; samples that are telephone numbers are
 * deleted, because an erasure would not find them there.
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

/** Another process works on the database. */
export class DatabaseInUseError extends Error {
  override readonly name = 'DatabaseInUseError';
}

/**
 * Takes the lock of a database, `<file>.lock` in the same folder: a server while it runs, a restore while it changes files.
 *
 * @throws {DatabaseInUseError} when another process holds it.
 * @throws {Error} when the lock file cannot be made.
 */
export function lockDatabase(file: string): FileLock {
  makeFolder(dirname(file), PRIVATE_FOLDER_MODE);
  const lock = lockOf(`${file}.lock`);
  if (lock !== undefined) return lock;
  throw new DatabaseInUseError(
    `Cannot use the database "${file}": another Offhook process works on it`,
  );
}

function lockOf(path: string): FileLock | undefined {
  try {
    return lockFile(path);
  } catch (error) {
    throw new Error(`Cannot make the lock file "${path}": ${messageOf(error)}`, { cause: error });
  }
}
