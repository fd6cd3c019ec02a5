/** The open database: runs queries and transactions for the stores that share it. */
import { dirname } from 'node:path';
import type Sqlite from 'better-sqlite3';
import type { Compilable } from 'kysely';
import { StoreError } from '../../domain/service-error.ts';
import { makeFolder, PRIVATE_FOLDER_MODE } from '../../lib/private-tree.ts';
import type { Queries } from '../queries.ts';
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

/**
 * One SQLite connection. Its methods run at once, or after the transaction that is open; waiting calls run in their
 * order.
 */
export class Database implements Queries {
  readonly file: string;
  readonly #sqlite: Sqlite.Database;
  readonly #statements: Statements;
  /** Whether the last write found the write lock held for the whole busy timeout. */
  #isLocked = false;
  /** Resolves when the open transaction is over. */
  #open: Promise<void> | undefined;

  constructor(sqlite: Sqlite.Database, file: string) {
    this.file = file;
    this.#sqlite = sqlite;
    this.#statements = new Statements(sqlite, file);
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    while (this.#open !== undefined) await this.#open;
    return this.#statements.all(query);
  }

  async get<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    while (this.#open !== undefined) await this.#open;
    return this.#statements.get(query);
  }

  async run(query: Compilable<unknown>): Promise<number> {
    while (this.#open !== undefined) await this.#open;
    return this.#writing(() => this.#statements.run(query));
  }

  async transaction<Result>(work: (transaction: Queries) => Promise<Result>): Promise<Result> {
    while (this.#open !== undefined) await this.#open;
    const over = Promise.withResolvers<void>();
    this.#open = over.promise;
    const transaction = new Transaction(this.#statements);
    try {
      const result = await this.#commit(transaction, work);
      transaction.committed();
      return result;
    } finally {
      transaction.end();
      this.#open = undefined;
      over.resolve();
    }
  }

  onCommit(effect: () => void): void {
    effect();
  }

  /** Sets how many pages of log make a write checkpoint the log. */
  setLogPages(pages: number): void {
    this.#sqlite.pragma(`wal_autocheckpoint=${pages}`);
  }

  /** Rewrites the file without its unused space. */
  async vacuum(): Promise<void> {
    while (this.#open !== undefined) await this.#open;
    this.#guarded(() => this.#sqlite.exec('vacuum'));
  }

  /** @see emptyLog of `sqlite-file.ts` */
  async emptyLog(): Promise<boolean> {
    while (this.#open !== undefined) await this.#open;
    return this.#guarded(() => emptyLog(this.#sqlite));
  }

  /** Refreshes the statistics from which SQLite chooses indexes. */
  async optimize(): Promise<void> {
    while (this.#open !== undefined) await this.#open;
    this.#guarded(() => refreshStatistics(this.#sqlite));
  }

  /** Safe to call twice. */
  close(): void {
    this.#sqlite.close();
  }

  /** Queries end in microtasks: a transaction still open in the next phase of the event loop awaits other work, which is an error. */
  async #commit<Result>(
    transaction: Transaction,
    work: (transaction: Queries) => Promise<Result>,
  ): Promise<Result> {
    this.#writing(() => this.#guarded(() => this.#sqlite.exec('begin immediate')));
    const tooLong = Promise.withResolvers<never>();
    const timer = setImmediate(() => tooLong.reject(new Error(TOO_LONG)));
    try {
      const result = await Promise.race([work(transaction), tooLong.promise]);
      this.#guarded(() => this.#sqlite.exec('commit'));
      return result;
    } catch (error) {
      // SQLite rolls back by itself on some errors, such as a full disk.
      if (this.#sqlite.inTransaction) this.#sqlite.exec('rollback');
      throw error;
    } finally {
      clearImmediate(timer);
    }
  }

  #guarded<Result>(work: () => Result): Result {
    return guarded(this.file, work);
  }

  /** Runs a write. While another process keeps the lock, only the first one waits for it: each wait holds up all calls. */
  #writing<Result>(work: () => Result): Result {
    try {
      const result = work();
      this.#noteLock(false);
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.reason === 'locked') this.#noteLock(true);
      throw error;
    }
  }

  #noteLock(isLocked: boolean): void {
    if (this.#isLocked === isLocked) return;
    this.#isLocked = isLocked;
    this.#sqlite.pragma(`busy_timeout=${isLocked ? 0 : RUNNING_BUSY_MS}`);
  }
}

const TOO_LONG = 'Cannot finish a transaction: it waits for something that is no query of its own';

/** An open transaction. Its end makes later queries fail. */
class Transaction implements Queries {
  readonly #statements: Statements;
  readonly #effects: (() => void)[] = [];
  #isOver = false;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    return this.#open().all(query);
  }

  async get<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    return this.#open().get(query);
  }

  async run(query: Compilable<unknown>): Promise<number> {
    return this.#open().run(query);
  }

  transaction<Result>(work: (transaction: Queries) => Promise<Result>): Promise<Result> {
    return work(this);
  }

  onCommit(effect: () => void): void {
    this.#effects.push(effect);
  }

  committed(): void {
    for (const effect of this.#effects) effect();
  }

  end(): void {
    this.#isOver = true;
  }

  #open(): Statements {
    if (this.#isOver) throw new Error('Cannot run a query: its transaction is over');
    return this.#statements;
  }
}

/** Runs queries on one connection, by statements that are prepared once. */
class Statements {
  readonly #sqlite: Sqlite.Database;
  readonly #file: string;
  /** Statements by SQL text. */
  readonly #prepared = new Map<string, Sqlite.Statement<unknown[], unknown>>();

  constructor(sqlite: Sqlite.Database, file: string) {
    this.#sqlite = sqlite;
    this.#file = file;
  }

  all<Row>(query: Compilable<Row>): Row[] {
    return this.#run(query, (statement, values) => statement.all(...values)) as Row[];
  }

  get<Row>(query: Compilable<Row>): Row | undefined {
    return this.#run(query, (statement, values) => statement.get(...values)) as Row | undefined;
  }

  run(query: Compilable<unknown>): number {
    return this.#run(query, (statement, values) => statement.run(...values).changes);
  }

  #run<Result>(
    query: Compilable<unknown>,
    work: (statement: Sqlite.Statement<unknown[], unknown>, values: readonly unknown[]) => Result,
  ): Result {
    const { sql, parameters } = query.compile();
    return guarded(this.#file, () => work(this.#prepare(sql), parameters));
  }

  #prepare(sql: string): Sqlite.Statement<unknown[], unknown> {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    if (this.#prepared.size >= STATEMENTS_MAX) this.#prepared.clear();
    const statement = this.#sqlite.prepare<unknown[], unknown>(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** @throws {StoreError} where SQLite failed because of the disk or the file. */
function guarded<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeErrorOf(error, file) ?? error;
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
    if (!mayMigrate) refusePending(sqlite);
    const migrations = mayMigrate ? migrate(sqlite) : [];
    refreshStatistics(sqlite, '0x10002');
    sqlite.pragma(`busy_timeout=${RUNNING_BUSY_MS}`);
    return { database: new Database(sqlite, file), migrations };
  } catch (error) {
    sqlite.close();
    throw cannotOpen(file, error);
  }
}
