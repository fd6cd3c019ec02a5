/** Common parts of the operator's commands: the open database, output of results, and reading of options. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { type Config, databaseFileOf } from '../config/config.ts';
import type { Account, Environment } from '../domain/account/account.ts';
import { ACCOUNT_LIMITS } from '../domain/account/account-rules.ts';
import { type AuditEntry, resourceNamed } from '../domain/account/audit-log.ts';
import { idMaker, type NewId, type RandomBytes } from '../domain/ids.ts';
import { StoreError } from '../domain/service-error.ts';
import { DAY_MS, HOUR_MS, systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { openStore, type Store } from '../store/store.ts';

/** Output of a command, and source of its settings. */
export interface Console {
  print(text: string): void;
  /** Overwrites the previous line on a terminal; prints nothing elsewhere. */
  progress(text: string): void;
  /** @throws {ConfigError} */
  config(): Config;
}

/** The arguments of a command are wrong or incomplete. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command's result: for people, and for programs. */
export interface Result {
  readonly text: string;
  /** JSON without secrets that were not asked for. */
  readonly json: unknown;
}

/** The database, and the parts that are needed to change it. */
export interface Desk {
  readonly store: Store;
  readonly now: Date;
  readonly newId: NewId;
  readonly random: RandomBytes;
}

/** Attempts to get the database lock; a server's transactions are short. */
const LOCK_ATTEMPTS_MAX = 50;

/** Adds `--json` to a command, and prints its result. */
export function showing<Options>(
  command: Command,
  console: Console,
  run: (options: Options, ...words: string[]) => Promise<Result>,
): void {
  command.option('--json', 'show the result as JSON');
  command.action(async (...given: unknown[]) => {
    // Commander gives the arguments, then the options, then the command.
    const words = given.slice(0, -2).map((word) => (word === undefined ? '' : String(word)));
    const options = given.at(-2) as Options & { readonly json?: boolean };
    const { text, json } = await run(options, ...words);
    console.print(options.json ? JSON.stringify(json, null, 2) : withoutControls(text));
  });
}

/** Customers choose names: none of them may move the cursor or colour the terminal. */
function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, '');
}

/** @throws {Error} when there is none yet. */
export function existingDatabaseFile(config: Config): string {
  const file = databaseFileOf(config);
  if (!existsSync(file)) {
    throw new Error(
      `There is no database at "${file}": start the server once, or set DATA_DIR or DATABASE_URL as the server has them`,
    );
  }
  return file;
}

/** Commands that change nothing, by their last word: others have an entry in the audit log. */
const READING_COMMANDS: readonly string[] = ['list', 'show', 'log', 'failed', 'check'];

/** Makes a command that works on the open database, and prints its result. Changes have an entry in the audit log. */
export function atDesk<Options>(
  command: Command,
  console: Console,
  work: (desk: Desk, options: Options, ...words: string[]) => Promise<Result>,
): void {
  showing<Options>(command, console, (options, ...words) =>
    withDesk(console, async (desk) => {
      const result = await work(desk, options, ...words);
      if (!READING_COMMANDS.includes(command.name())) await audit(desk, command, result);
      return result;
    }),
  );
}

/** @throws {Error} when the entry cannot be written: the change itself is made by then. */
async function audit({ store, now, newId }: Desk, command: Command, { json }: Result) {
  const { id, name } = (json ?? {}) as { readonly id?: unknown; readonly name?: unknown };
  const entry: AuditEntry = {
    id: newId('aud'),
    at: now,
    actor: 'cli',
    actorId: null,
    actorName: null,
    address: null,
    action: wordsOf(command),
    resource: resourceNamed(id) ?? resourceNamed(name) ?? null,
    status: null,
    accountId: null,
    environment: null,
  };
  try {
    await patiently(() => store.auditLog.append(entry));
  } catch (error) {
    const message = `"${entry.action}" is done, but the audit log could not be written`;
    throw new Error(message, { cause: error });
  }
}

/** Full name of a command, such as `admin key create`. */
function wordsOf(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${wordsOf(parent)} ${command.name()}`;
}

/**
 * Opens the database, works, and closes it again. The server of the version before may be working on it: its schema
 * stays as it is.
 *
 * @throws {Error} when there is none yet, or its schema is older than this version's.
 */
export async function withDesk<Value>(
  console: Console,
  work: (desk: Desk) => Promise<Value>,
): Promise<Value> {
  const config = console.config();
  const file = existingDatabaseFile(config);
  const log = silentLogger;
  const store = await openStore({
    file,
    clock: systemClock,
    log,
    mayMigrate: false,
    secretsKey: config.SECRETS_KEY,
  });
  try {
    return await work({
      store,
      now: systemClock.now(),
      newId: idMaker({ nowMs: Date.now, random: randomBytes }),
      random: randomBytes,
    });
  } finally {
    await store.close();
  }
}

/** Writes, and tries again while the running server holds the lock. `write` must be one transaction. */
export async function patiently<Value>(write: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      const isLocked = error instanceof StoreError && error.reason === 'locked';
      if (!isLocked || attempt === LOCK_ATTEMPTS_MAX) throw error;
    }
  }
}

/** The account of that id; without an id the only one. @throws {Error} listing the accounts to choose from. */
export async function accountOf({ store }: Desk, accountId: string | undefined): Promise<Account> {
  const accounts = await store.accounts.list();
  const [first] = accounts;
  if (accountId === undefined && accounts.length === 1 && first !== undefined) return first;
  const found = accounts.find(({ id }) => id === accountId);
  if (found !== undefined) return found;
  const problem =
    accountId === undefined
      ? 'Which account? Say it with --account'
      : `There is no account "${accountId}"`;
  const known = accounts.map(({ id, name }) => `  ${id}  ${name}`);
  throw new Error([`${problem}; there ${known.length === 1 ? 'is' : 'are'}:`, ...known].join('\n'));
}

/** Reads a name. */
export function nameOption(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= ACCOUNT_LIMITS.nameCharsMax) return name;
  throw new InvalidArgumentError(`Expected 1 to ${ACCOUNT_LIMITS.nameCharsMax} characters.`);
}

/** Reads `live` or `test`. */
export function environmentOption(text: string): Environment {
  if (text === 'live' || text === 'test') return text;
  throw new InvalidArgumentError('Expected live or test.');
}

const SPANS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS };

/** Reads an ISO 8601 date or instant in UTC, or how long ago: `24h`, `7d`. */
export function instantOption(text: string): Date {
  const [, amount, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) {
    return new Date(Date.now() - Number(amount) * (SPANS_MS[unit] ?? 0));
  }
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const at = new Date(text);
  if (isDate && !Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError(
    'Expected a time such as 2026-11-20, 2026-11-20T12:00:00Z, 24h (ago) or 7d (ago).',
  );
}

/** Columns of text, each as wide as it needs; `none` when there is no row. */
export function table(rows: readonly (readonly string[])[], none: string): string {
  const [head] = rows;
  if (head === undefined || rows.length === 1) return none;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
