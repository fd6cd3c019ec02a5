/** One SQLite file, open with the settings that keep it whole when the process dies. */

import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Compilable } from 'kysely';
import {
  makeFolder,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  tighten,
} from '../../lib/private-tree.ts';
import { emptyLog } from './empty-log.ts';
import { type FileSystemTypeOf, refuseNetworkFileSystem } from './file-system.ts';
import { migrate, refusePending } from './migrate.ts';
import { guarded, storeErrorOf } from './sqlite-error.ts';
import { Statement, type Take } from './statement.ts';

/** While another process migrates, a start may wait. */
const OPENING_BUSY_MS = 5000;

/** Writes happen on the thread that also holds the conversations: rather a late record than a late word. */
const RUNNING_BUSY_MS = 100;

const WAL_SIZE_BYTES_MAX = 64 * 1024 * 1024;

/** After so many pages in the log, 4 MiB, SQLite brings them into the database file; its own default. */
export const USUAL_LOG_PAGES = 1000;

/** The open file, for the stores that share it. */
export class Database {
  readonly file: string;
  readonly #sqlite: Sqlite.Database;
  readonly #transaction: Sqlite.Transaction<(work: () => unknown) => unknown>;

  constructor(sqlite: Sqlite.Database, file: string) {
    this.file = file;
    this.#sqlite = sqlite;
    this.#transaction = sqlite.transaction((work: () => unknown) => work());
  }

  /** Prepares a statement; once, when the store opens. */
  prepare<Values, Row>(build: (take: Take<Values>) => Compilable<Row>): Statement<Values, Row> {
    return new Statement(this.#sqlite, build);
  }

  /**
   * Runs reads that need no common moment.
   *
   * @throws {StoreError} when the disk or the file fails.
   */
  read<Result>(work: () => Result): Result {
    return guarded(this.file, work);
  }

  /**
   * Runs `work` as one transaction that holds the write lock from its beginning.
   *
   * @throws {StoreError} when the disk or the file fails; then nothing of it is kept.
   */
  write<Result>(work: () => Result): Result {
    return guarded(this.file, () => this.#transaction.immediate(work) as Result);
  }

  /**
   * Runs reads and writes that belong together as one `write`; inside of one, as a part of it. Besides, one transaction is
   * cheaper than one for each read: each takes and gives back the locks of the log.
   *
   * @throws {StoreError} as `write` does; whoever runs it inside of a `write` must let that fail with it.
   */
  together<Result>(work: () => Result): Result {
    return this.#sqlite.inTransaction ? work() : this.write(work);
  }

  get isOpen(): boolean {
    return this.#sqlite.open;
  }

  /** Whether a `write` is under way. */
  get isInTransaction(): boolean {
    return this.#sqlite.inTransaction;
  }

  /** Says after how many pages in the log the next write brings them in. */
  setLogPages(pages: number): void {
    this.#sqlite.pragma(`wal_autocheckpoint=${pages}`);
  }

  /** Writes the file anew, without what lies in the unused space of its pages. Inside of a transaction it cannot be done. */
  vacuum(): void {
    guarded(this.file, () => this.#sqlite.exec('vacuum'));
  }

  /** Brings the log in and empties it. @returns false when another process reads or writes at that moment. */
  emptyLog(): boolean {
    return guarded(this.file, () => emptyLog(this.#sqlite));
  }

  /** Refreshes the statistics by which SQLite chooses indexes. */
  optimize(): void {
    guarded(this.file, () => refreshStatistics(this.#sqlite));
  }

  /** Safe to call twice. */
  close(): void {
    this.#sqlite.close();
  }
}

/**
 * Opens the file, making it and its folder when they are not there, and brings it to this version's schema.
 *
 * @param options.mayMigrate false where a server may be working on the database: then an older schema is refused.
 * @returns the database and the names of the migrations that ran.
 * @throws {Error} naming the file and why it cannot be used.
 */
export async function openDatabase(options: {
  readonly file: string;
  readonly fileSystemTypeOf?: FileSystemTypeOf | undefined;
  readonly mayMigrate?: boolean | undefined;
}): Promise<{ readonly database: Database; readonly migrations: readonly string[] }> {
  const { file, mayMigrate = true } = options;
  const folder = dirname(file);
  makeFolder(folder, PRIVATE_FOLDER_MODE);
  refuseNetworkFileSystem(folder, options.fileSystemTypeOf);
  const sqlite = openFile(file);
  try {
    configure(sqlite);
    if (!mayMigrate) await refusePending(sqlite);
    const migrations = mayMigrate ? await migrate(sqlite) : [];
    refreshStatistics(sqlite, '0x10002');
    sqlite.pragma(`busy_timeout=${RUNNING_BUSY_MS}`);
    return { database: new Database(sqlite, file), migrations };
  } catch (error) {
    sqlite.close();
    throw cannotOpen(file, error);
  }
}

/** The file holds signing secrets: only its owner may read it. A log that SQLite makes beside it inherits its mode. */
function openFile(file: string): Sqlite.Database {
  try {
    closeSync(openSync(file, 'a', PRIVATE_FILE_MODE));
    for (const suffix of ['', '-wal', '-shm']) tighten(`${file}${suffix}`);
    return new Sqlite(file, { timeout: OPENING_BUSY_MS });
  } catch (error) {
    throw cannotOpen(file, error);
  }
}

function configure(sqlite: Sqlite.Database): void {
  sqlite.pragma('journal_mode=WAL');
  sqlite.pragma('synchronous=NORMAL');
  sqlite.pragma('foreign_keys=ON');
  sqlite.pragma('temp_store=MEMORY');
  // What is deleted is overwritten: FAST would leave whole pages, which hold most of what was said, as they were.
  sqlite.pragma('secure_delete=ON');
  sqlite.pragma(`journal_size_limit=${WAL_SIZE_BYTES_MAX}`);
}

function cannotOpen(file: string, error: unknown): Error {
  const known = storeErrorOf(error, file);
  if (known !== undefined) return known;
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`Cannot open the database "${file}": ${why}`, { cause: error });
}

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
