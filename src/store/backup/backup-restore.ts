/** Restores a backup while no server works on the database, and keeps the database from before. */

import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { callEndedEvent } from '../../domain/call/call-events.ts';
import { endCall, type Failure, isOver } from '../../domain/call/call-life.ts';
import { idMaker } from '../../domain/ids.ts';
import { CallErasure, SqliteLeftovers } from '../accounts/sqlite-erasure-store.ts';
import { SqliteCallStore } from '../calls/sqlite-call-store.ts';
import type { Queries } from '../queries.ts';
import { type Database, openDatabase } from '../sqlite/database.ts';
import {
  build,
  type ErasedCallRow,
  type ErasureRow,
  type NotedErasureRow,
} from '../sqlite/schema.ts';
import { addKeys, keyFileOf, readKeys } from '../sqlite/sealed-columns.ts';
import { lockDatabase } from '../sqlite/sqlite-file.ts';
import { newStoreFeeds } from '../store-feeds.ts';
import {
  BACKUP_DATABASE,
  type BackupManifest,
  type CopiedRecordings,
  copyRecordings,
  readManifest,
  syncFile,
} from './backup.ts';
import { diskErrorOf } from './disk-error.ts';

const LOG_SUFFIXES = ['-wal', '-shm'] as const;

/** The files of a database in use, or after a crash. */
const SUFFIXES = ['', ...LOG_SUFFIXES] as const;

/** A database is in the backup's place already. */
export class DatabasePresentError extends Error {
  override readonly name = 'DatabasePresentError';
}

/** Result of a restore. */
interface Restored {
  readonly manifest: BackupManifest;
  readonly recordings: CopiedRecordings;
  /** Path of the previous database; null when there was none. */
  readonly keptAs: string | null;
  /** Steps that brought the backup to this version's schema. */
  readonly migrations: readonly string[];
  /** Live calls that waited to be dialled and were ended. */
  readonly callsEnded: number;
  /** Calls that were erased since the backup, and are erased again. */
  readonly callsErased: number;
  /** Whether the database from before could be read for that; null when there was none. */
  readonly erasuresRead: boolean | null;
}

/**
 * Replaces the database by a backup. The old one is kept as `<file>.before-restore`.
 *
 * @param options.mayReplace whether an existing database may be replaced.
 * @param options.keepQueue whether queued calls stay queued: a server then dials those of the last
 * day, though they may have been dialled after the backup was made.
 * @throws {DatabaseInUseError} while a server works on it.
 * @throws {DatabasePresentError}
 * @throws {Error} when the backup is damaged or of a newer version. After an error the database is as it was.
 */
export async function restoreBackup(options: {
  /** The backup. */
  readonly folder: string;
  readonly databaseFile: string;
  readonly dataFolder: string;
  readonly mayReplace: boolean;
  readonly keepQueue: boolean;
  /** Another database whose erasures are applied as well, such as that of a newer backup. */
  readonly erasuresFrom?: string | undefined;
  readonly now: Date;
}): Promise<Restored> {
  const { folder, databaseFile, mayReplace } = options;
  const lock = lockDatabase(databaseFile);
  try {
    if (existsSync(databaseFile) && !mayReplace) {
      throw new DatabasePresentError(
        `Cannot restore to "${databaseFile}": there is a database already`,
      );
    }
    const manifest = await readManifest(folder);
    const incoming = `${databaseFile}.restoring`;
    const broughtIn = await bringIn(incoming, { ...options, manifest });
    addKeys(keyFileOf(databaseFile), readKeys(keyFileOf(join(folder, BACKUP_DATABASE))));
    const keptAs = setAside(databaseFile);
    renameSync(incoming, databaseFile);
    return { manifest, keptAs, ...broughtIn };
  } finally {
    lock.release();
  }
}

/** Copies the backup next to the old database, and opens the copy: a newer version's is refused here. */
async function bringIn(
  incoming: string,
  from: Parameters<typeof restoreBackup>[0] & { readonly manifest: BackupManifest },
): Promise<Omit<Restored, 'manifest' | 'keptAs'>> {
  removeDatabase(incoming);
  try {
    copyFileSync(join(from.folder, BACKUP_DATABASE), incoming);
    chmodSync(incoming, 0o600);
    const settled = await settle(incoming, from);
    syncFile(incoming);
    const recordings = await copyRecordings({
      database: incoming,
      from: from.folder,
      to: from.dataFolder,
      mode: from.manifest.recordings.included ? 'copy' : 'none',
    });
    // A connection that only reads leaves an empty log behind.
    for (const suffix of LOG_SUFFIXES) rmSync(`${incoming}${suffix}`, { force: true });
    return { ...settled, recordings };
  } catch (error) {
    removeDatabase(incoming);
    throw diskErrorOf(error, `Cannot restore to "${from.databaseFile}"`);
  }
}

async function settle(
  incoming: string,
  from: Parameters<typeof restoreBackup>[0],
): Promise<Omit<Restored, 'manifest' | 'keptAs' | 'recordings'>> {
  const { keepQueue, now, databaseFile, erasuresFrom } = from;
  const ofNewer = erasuresFrom === undefined ? [] : [readErasures(erasuresFrom)];
  const ofBefore = erasuresBefore(databaseFile);
  const { database, migrations } = await openDatabase({ file: incoming });
  try {
    // A server ends the open dialogs that it finds; here these may be calls that the server of the backup still has.
    await database.run(build.deleteFrom('open_dialogs'));
    const callsEnded = keepQueue ? 0 : await endWaitingCalls(database, now);
    if (!keepQueue) await pauseCampaigns(database, now);
    const known = [...ofNewer, ...(ofBefore ? [ofBefore] : [])];
    let callsErased = 0;
    for (const erasures of known) callsErased += await eraseAgain(database, erasures);
    if (callsErased > 0) await new SqliteLeftovers(database).compact();
    const erasuresRead = ofBefore === null ? null : ofBefore !== undefined;
    return { migrations, callsEnded, callsErased, erasuresRead };
  } finally {
    database.close();
  }
}

/** Null when there is no database, undefined when it cannot be read: a damaged one may be the reason to restore. */
function erasuresBefore(databaseFile: string): KnownErasures | null | undefined {
  if (!existsSync(databaseFile)) return null;
  try {
    return readErasures(databaseFile);
  } catch {
    return undefined;
  }
}

function removeDatabase(file: string): void {
  for (const suffix of SUFFIXES) rmSync(`${file}${suffix}`, { force: true });
}

/** Gives the old files another name, all with the same ending, so that SQLite still knows them as one database. */
function setAside(databaseFile: string): string | null {
  const present = SUFFIXES.filter((suffix) => existsSync(`${databaseFile}${suffix}`));
  if (present.length === 0) return null;
  foldLog(databaseFile);
  const keptAs = freeName(`${databaseFile}.before-restore`);
  for (const suffix of present) {
    const part = `${databaseFile}${suffix}`;
    if (existsSync(part)) renameSync(part, `${keptAs}${suffix}`);
  }
  return keptAs;
}

/** Copies the write-ahead log into the database, so that a crash between two renames cannot separate the two. */
function foldLog(databaseFile: string): void {
  if (!existsSync(databaseFile)) return;
  try {
    const sqlite = new Sqlite(databaseFile, { fileMustExist: true });
    try {
      sqlite.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      sqlite.close();
    }
  } catch {
    // A damaged database may be the very reason to restore: it is set aside as it is.
  }
}

function freeName(name: string): string {
  if (!existsSync(name)) return name;
  let number = 2;
  while (existsSync(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}

/** Failure of queued calls in a restored backup. */
const RESTORED: Failure = {
  reason: 'It waited in the queue when the backup was made, and is not dialled after a restore.',
  sipStatus: null,
};

/**
 * Ends every live call that waits to be dialled, as a server ends one that it cannot dial: `failed`, `error`, and
 * `call.ended` to its customer. Calls of the sandbox stay in the queue.
 *
 * @returns how many.
 */
async function endWaitingCalls(database: Database, now: Date): Promise<number> {
  const newId = idMaker({ nowMs: () => now.getTime(), random: randomBytes });
  return database.transaction(async (transaction) => {
    const calls = new SqliteCallStore(transaction, newStoreFeeds());
    const waiting = await calls.queued('live', 'outbound', Number.MAX_SAFE_INTEGER);
    for (const call of waiting) {
      const ended = endCall(call, { endReason: 'error', endedAt: now, failure: RESTORED });
      await calls.update(ended, [callEndedEvent(ended, { id: newId('evt'), now })]);
    }
    return waiting.length;
  });
}

const CAMPAIGN_RESTORED =
  'It ran when the backup was made: numbers may have been called since. Resume it, or cancel it.';

/** A restored campaign would call the numbers once more that it has called since the backup. The sandbox's go on. */
async function pauseCampaigns(database: Database, now: Date): Promise<void> {
  await database.run(
    build
      .updateTable('campaigns')
      .set({ status: 'paused', status_reason: CAMPAIGN_RESTORED, updated_at: now.getTime() })
      .where('status', '=', 'running')
      .where('environment', '=', 'live'),
  );
}

/** Erasures on record in a database. */
interface KnownErasures {
  readonly erasures: readonly ErasureRow[];
  readonly calls: readonly ErasedCallRow[];
  /** To be erased when they are over. */
  readonly noted: readonly NotedErasureRow[];
}

/** Reads the erasures of a database that no server works on. @throws {Error} when it cannot be read. */
function readErasures(file: string): KnownErasures {
  const sqlite = new Sqlite(file, { fileMustExist: true });
  try {
    const all = <Row>(table: string) => sqlite.prepare<[], Row>(`select * from ${table}`).all();
    return {
      erasures: all<ErasureRow>('erasures'),
      calls: all<ErasedCallRow>('erased_calls'),
      noted: all<NotedErasureRow>('noted_erasures'),
    };
  } finally {
    sqlite.close();
  }
}

/**
 * Erases the calls that another database knows to be erased. Tombstones are kept for the next restore; a call that is in
 * progress in the backup is erased by the server once its end is recorded.
 *
 * @returns how many calls were erased, or will be.
 */
async function eraseAgain(database: Database, known: KnownErasures): Promise<number> {
  return database.transaction(async (transaction) => {
    const erasure = new CallErasure(transaction);
    for (const row of known.erasures) {
      await transaction.run(build.insertInto('erasures').orIgnore().values(row));
    }
    let count = 0;
    for (const row of known.calls) {
      const call = await erasure.find(row.call_id);
      await transaction.run(build.insertInto('erased_calls').orIgnore().values(row));
      if (call === undefined) continue;
      count += 1;
      const tombstone = { erasureId: row.erasure_id, now: new Date(row.erased_at) };
      if (isOver(call.status)) await erasure.erase(row.call_id, tombstone);
      else await note(transaction, row);
    }
    for (const row of known.noted) {
      if ((await erasure.find(row.call_id)) === undefined) continue;
      count += 1;
      await note(transaction, row);
    }
    return count;
  });
}

/** Leaves the call for the server to erase. */
async function note(database: Queries, { call_id, erasure_id }: NotedErasureRow): Promise<void> {
  const row = { call_id, erasure_id };
  await database.run(build.insertInto('noted_erasures').orIgnore().values(row));
  const reopened = build.updateTable('erasures').set({ finished_at: null });
  await database.run(reopened.where('id', '=', erasure_id));
}
