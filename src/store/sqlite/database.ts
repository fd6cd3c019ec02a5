/** The open database: runs queries and transactions for the stores that share it. */
import { dirname } from 'node:path';
import type Sqlite from 'better-sqlite3';
import type { Compilable } from 'kysely';
import { makeFolder, PRIVATE_FOLDER_MODE } from '../../lib/private-tree.ts';
import { migrate, refusePending } from './migrate.ts';
import {
  cannotOpen,
  emptyLog,
  type FileSystemTypeOf,
  openFile,
  refreshStatistics,
  refuseNetworkFileSystem,
  storeErrorOf,
} from './sqlite-file.ts';

/** Busy timeout while serving: a late record is better than a late word, and both run on the main thread. */
const RUNNING_BUSY_MS = 100;

/** SQLite's default for automatic checkpoints: 1,000 pages of log, 4 MiB. */
export const USUAL_LOG_PAGES = 1000;

/** Prepared statements in the cache; far more than the stores have. */
const STATEMENTS_MAX = 1000;

/** Every method throws `StoreError` when the disk or the file fails. */
export class Database {
  readonly file: string;
  readonly #sqlite: Sqlite.Database;
  readonly #transaction: Sqlite.Transaction<(work: () => unknown) => unknown>;
  /** By SQL text. */
  readonly #statements = new Map<string, Sqlite.Statement<unknown[], unknown>>();

  constructor(sqlite: Sqlite.Database, file: string) {
    this.file = file;
    this.#sqlite = sqlite;
    this.#transaction = sqlite.transaction((work: () => unknown) => work());
  }

  /** Every row of a query that Kysely has built. */
  all<Row>(query: Compilable<Row>): Row[] {
    return this.#run(query, (statement, values) => statement.all(...values)) as Row[];
  }

  /** The first row, undefined when there is none. */
  get<Row>(query: Compilable<Row>): Row | undefined {
    return this.#run(query, (statement, values) => statement.get(...values)) as Row | undefined;
  }

  /** Runs a statement that returns no rows. @returns how many rows it changed. */
  run(query: Compilable<unknown>): number {
    return this.#run(query, (statement, values) => statement.run(...values).changes);
  }

  /** Runs `work` as one transaction that holds the write lock from its start; an error rolls it back. */
  write<Result>(work: () => Result): Result {
    return this.#guarded(() => this.#transaction.immediate(work) as Result);
  }

  /**
   * Runs `work` as one `write`, or as a part of the transaction under way.
   *
   * An error inside an outer `write` must be passed on, so that the outer one fails with it.
   */
  together<Result>(work: () => Result): Result {
    return this.#sqlite.inTransaction ? work() : this.write(work);
  }

  /** Sets how many pages of log make a write checkpoint the log. */
  setLogPages(pages: number): void {
    this.#sqlite.pragma(`wal_autocheckpoint=${pages}`);
  }

  /** Rewrites the file without its unused space. Not allowed inside a transaction. */
  vacuum(): void {
    this.#guarded(() => this.#sqlite.exec('vacuum'));
  }

  /** @see emptyLog of `sqlite-file.ts` */
  emptyLog(): boolean {
    return this.#guarded(() => emptyLog(this.#sqlite));
  }

  /** Refreshes the statistics from which SQLite chooses indexes. */
  optimize(): void {
    this.#guarded(() => refreshStatistics(this.#sqlite));
  }

  /** Safe to call twice. */
  close(): void {
    this.#sqlite.close();
  }

  #run<Result>(
    query: Compilable<unknown>,
    work: (statement: Sqlite.Statement<unknown[], unknown>, values: readonly unknown[]) => Result,
  ): Result {
    const { sql, parameters } = query.compile();
    return this.#guarded(() => work(this.#prepare(sql), parameters));
  }

  #prepare(sql: string): Sqlite.Statement<unknown[], unknown> {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    const statement = this.#sqlite.prepare<unknown[], unknown>(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw storeErrorOf(error, this.file) ?? error;
    }
  }
}

/**
 * Opens a database, creates the file and its folder when missing, and migrates it to the current schema.
 *
 * @param options.mayMigrate False when a server may be using the database: an older schema is refused then.
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
