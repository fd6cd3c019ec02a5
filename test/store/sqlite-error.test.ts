import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
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

test('Database.write says full when SQLite finds no more room', () => {
  const sqlite = openRaw();
  sqlite.pragma('max_page_count=4');

  const fill = () => sqlite.prepare('insert into words values (?)').run('x'.repeat(100_000));

  expect(() => new Database(sqlite, 'raw.db').write(fill)).toThrow(
    expect.objectContaining({
      name: 'StoreError',
      reason: 'full',
      message: 'Cannot use the database "raw.db": the disk is full (SQLITE_FULL)',
    }),
  );
});

test('Database.write says read-only when the file may only be read', () => {
  const { name } = openRaw();
  const sqlite = new Sqlite(name, { readonly: true });

  const write = () => sqlite.prepare("insert into words values ('a')").run();

  expect(() => new Database(sqlite, 'raw.db').write(write)).toThrow(
    expect.objectContaining({ reason: 'read-only' }),
  );
  sqlite.close();
});

test('Database.write lets a violated constraint out as it is, because that is our mistake', () => {
  const sqlite = openRaw();
  const insert = sqlite.prepare('insert into words values (?)');
  insert.run('twice');

  const again = () => new Database(sqlite, 'raw.db').write(() => insert.run('twice'));

  expect(again).toThrow(Sqlite.SqliteError);
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
