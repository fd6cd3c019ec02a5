import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CompiledQuery } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../../src/store/sqlite/database.ts';
import { storeErrorOf } from '../../src/store/sqlite/sqlite-file.ts';
import { testFolder } from '../support/store/test-store.ts';

/** A database with an empty table. */
function openRaw(): Sqlite.Database {
  const sqlite = new Sqlite(join(testFolder(), 'raw.db'));
  onTestFinished(() => {
    sqlite.close();
  });
  sqlite.exec('create table words (word text not null unique)');
  return sqlite;
}

const raw = (text: string) => ({ compile: () => CompiledQuery.raw(text) as CompiledQuery<never> });

test('Database says full when SQLite finds no more room', async () => {
  const sqlite = openRaw();
  sqlite.pragma('max_page_count=4');
  const database = new Database(sqlite, 'raw.db');
  const fill = raw(`insert into words values ('${'x'.repeat(100_000)}')`);

  const full = expect.objectContaining({
    name: 'StoreError',
    reason: 'full',
    message: 'Cannot use the database "raw.db": the disk is full (SQLITE_FULL)',
  });
  await expect(database.run(fill)).rejects.toThrow(full);
  await expect(database.transaction((transaction) => transaction.run(fill))).rejects.toThrow(full);
});

test('Database says read-only when the file may only be read', async () => {
  const { name } = openRaw();
  const sqlite = new Sqlite(name, { readonly: true });

  const written = new Database(sqlite, 'raw.db').run(raw("insert into words values ('a')"));

  await expect(written).rejects.toThrow(expect.objectContaining({ reason: 'read-only' }));
  sqlite.close();
});

test('Database lets a violated constraint out as it is, because that is our mistake', async () => {
  const sqlite = openRaw();
  const insert = raw("insert into words values ('twice')");
  const database = new Database(sqlite, 'raw.db');
  await database.run(insert);

  await expect(database.run(insert)).rejects.toThrow(Sqlite.SqliteError);
});

test.each([
  ['SQLITE_FULL', 'full'],
  ['SQLITE_READONLY_DBMOVED', 'read-only'],
  ['SQLITE_BUSY_SNAPSHOT', 'locked'],
  ['SQLITE_LOCKED', 'locked'],
  ['SQLITE_IOERR_WRITE', 'broken'],
  ['SQLITE_CORRUPT_INDEX', 'broken'],
  ['SQLITE_NOTADB', 'broken'],
  ['SQLITE_CONSTRAINT_UNIQUE', undefined],
  ['SQLITE_ERROR', undefined],
])('storeErrorOf %s has the reason %s', (code, reason) => {
  expect(storeErrorOf(new Sqlite.SqliteError('it failed', code), 'raw.db')?.reason).toBe(reason);
});

test('storeErrorOf leaves errors of others alone', () => {
  expect(storeErrorOf(new TypeError('no'), 'raw.db')).toBeUndefined();
});
