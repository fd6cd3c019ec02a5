/** `admin backup`, `restore`, `compact` and `migrate`: the database as a whole. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Argument, type Command, Option } from 'commander';
import { databaseFileOf } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { packageVersion } from '../lib/package-version.ts';
import { SqliteLeftovers } from '../store/accounts/sqlite-erasure-store.ts';
import {
  BACKUP_DATABASE,
  copyDatabase,
  makeBackup,
  type RecordingMode,
} from '../store/backup/backup.ts';
import { DatabasePresentError, restoreBackup } from '../store/backup/backup-restore.ts';
import { type Database, openDatabase } from '../store/sqlite/database.ts';
import { DatabaseInUseError, lockDatabase } from '../store/sqlite/sqlite-file.ts';
import { type Console, existingDatabaseFile, type Result, showing } from './admin-command.ts';

interface RestoreOptions {
  readonly force?: boolean;
  readonly keepQueue?: boolean;
  /** A database, or a backup that has one. */
  readonly erasures?: string;
}

/** Adds `admin backup` and `admin restore`. */
export function addBackupCommands(root: Command, console: Console): void {
  const folder = new Argument('<folder>', 'where the backup lies, or is to lie');

  const backup = root.command('backup').description('saves database and recordings into a folder');
  backup.addArgument(folder);
  backup.addOption(
    new Option('--recordings <how>', 'link: hard links, on the same disk only')
      .choices(['copy', 'link', 'none'])
      .default('copy'),
  );
  showing<{ readonly recordings: RecordingMode }>(backup, console, ({ recordings }, path) =>
    back(console, path ?? '', recordings),
  );

  const restore = root
    .command('restore')
    .description('brings a backup back; the server must be stopped');
  restore.addArgument(folder);
  restore.option('--force', 'though there is a database already; that one is kept next to it');
  restore.option('--keep-queue', 'calls that waited to be dialled wait on: the server dials them');
  restore.option(
    '--erasures <database>',
    'erase again what this database knows to be erased, such as that of a newer backup',
  );
  showing<RestoreOptions>(restore, console, (options, path) =>
    bringBack(console, path ?? '', options),
  );

  const tidy = root
    .command('compact')
    .description('rewrites the database file without copies of erased rows');
  showing(tidy, console, () => compact(console));

  const migrate = root
    .command('migrate')
    .description("brings the database to this version's schema");
  migrate.option('--dry-run', 'on a copy only, to see what would be done and that it works');
  showing<{ readonly dryRun?: boolean }>(migrate, console, ({ dryRun = false }) =>
    dryRun
      ? tryMigration(console)
      : whileStopped(console, async (_database, steps) => migrationResult(steps, 'done')),
  );
}

/** @throws {Error} while a server works on the database: it does this itself, unless the file is large. */
async function compact(console: Console): Promise<Result> {
  return whileStopped(console, async (database) => {
    const store = new SqliteLeftovers(database);
    const beforeBytes = await store.sizeBytes();
    await store.compact();
    const afterBytes = await store.sizeBytes();
    const sizes = [beforeBytes, afterBytes].map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`);
    const text = `Rewritten: ${sizes.join(' before, ')} after.`;
    return { text, json: { beforeBytes, afterBytes } };
  });
}

/** Opens the database, and migrates it, where no server works on it. */
async function whileStopped(
  console: Console,
  work: (database: Database, migrations: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const file = existingDatabaseFile(console.config());
  try {
    const lock = lockDatabase(file);
    try {
      const { database, migrations } = await openDatabase({ file });
      const result = await work(database, migrations);
      database.close();
      return result;
    } finally {
      lock.release();
    }
  } catch (error) {
    throw withAdvice(error);
  }
}

async function back(console: Console, folder: string, recordings: RecordingMode): Promise<Result> {
  const config = console.config();
  const manifest = await makeBackup({
    databaseFile: existingDatabaseFile(config),
    dataFolder: config.DATA_DIR,
    folder,
    recordings,
    version: packageVersion(),
    now: systemClock.now(),
  });
  const { counts, recordings: carried } = manifest;
  const lines = [
    `Saved in "${folder}": ${counts.accounts} accounts, ${counts.agents} agents, ${counts.calls} calls.`,
    carriedText(carried, manifest.recordings.included),
  ];
  return { text: lines.join('\n'), json: { folder, ...manifest } };
}

async function bringBack(
  console: Console,
  folder: string,
  { force = false, keepQueue = false, erasures }: RestoreOptions,
): Promise<Result> {
  const config = console.config();
  const databaseFile = databaseFileOf(config);
  try {
    const restored = await restoreBackup({
      folder,
      databaseFile,
      dataFolder: config.DATA_DIR,
      mayReplace: force,
      keepQueue,
      erasuresFrom: erasures === undefined ? undefined : databaseIn(erasures),
      now: systemClock.now(),
    });
    const { manifest, recordings, keptAs, callsEnded, callsErased } = restored;
    const lines = [
      `Restored "${databaseFile}" as it was at ${manifest.createdAt}: ${manifest.counts.calls} calls.`,
      carriedText(recordings, manifest.recordings.included),
      ...(callsEnded === 0 ? [] : [`${callsEnded} calls that waited to be dialled were ended.`]),
      ...(callsErased === 0
        ? []
        : [`${callsErased} calls that were erased since are erased again.`]),
      ...erasureAdvice(restored.erasuresRead, erasures),
      ...(keptAs === null ? [] : [`The database from before is kept as "${keptAs}".`]),
    ];
    return { text: lines.join('\n'), json: { databaseFile, ...restored } };
  } catch (error) {
    throw withAdvice(error);
  }
}

/** @param path of a database, or of a backup. */
function databaseIn(path: string): string {
  return statSync(path).isDirectory() ? join(path, BACKUP_DATABASE) : path;
}

/** Warning of a restore that could not learn which calls were erased since the backup; empty where it could. */
function erasureAdvice(isRead: boolean | null, given: string | undefined): readonly string[] {
  if (isRead === true || given !== undefined) return [];
  const which =
    isRead === null
      ? 'There was no database here before'
      : 'The database from before cannot be read';
  return [
    `${which}: calls that were erased since the backup are back. --erasures takes a newer database or backup that knows of them.`,
  ];
}

/** On a copy next to the database: where there is room for one there is room for the steps as well. */
async function tryMigration(console: Console): Promise<Result> {
  const file = existingDatabaseFile(console.config());
  const folder = mkdtempSync(join(dirname(file), 'migration-'));
  try {
    const copy = join(folder, 'offhook.db');
    copyDatabase({ from: file, to: copy });
    const { database, migrations } = await openDatabase({ file: copy });
    database.close();
    return migrationResult(migrations, 'would be done, and worked on a copy');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function migrationResult(migrations: readonly string[], state: string): Result {
  const text =
    migrations.length === 0
      ? 'The database has the schema of this version already.'
      : [`Steps, ${state}:`, ...migrations.map((name) => `  ${name}`)].join('\n');
  return { text, json: { migrations } };
}

function carriedText(
  { files, sizeBytes, missing }: { files: number; sizeBytes: number; missing: number },
  isIncluded: boolean,
): string {
  if (!isIncluded) return 'Recordings are not part of it.';
  const size = `${(sizeBytes / 1e6).toFixed(1)} MB`;
  const gone = missing === 0 ? '' : `; ${missing} that calls name were not there`;
  return `${files} recordings, ${size}${gone}.`;
}

/** Adds advice to an error. */
function withAdvice(error: unknown): unknown {
  if (error instanceof DatabaseInUseError) {
    return new Error(`${error.message}; stop the server first`, { cause: error });
  }
  if (error instanceof DatabasePresentError) {
    const advice = '--force puts the backup in its place and keeps the old one next to it';
    return new Error(`${error.message}; ${advice}`, { cause: error });
  }
  return error;
}
