import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { guarded, storeErrorOf } from '../../src/store/sqlite/sqlite-error.ts';
import { testFolder } from '../support/test-store.ts';

/** A database with an empty table. */
function openRaw(): Sqlite.Database {
  const sqlite = new Sqlite(join(testFolder(), 'raw.db'));
  onTestFinished(() => {
    sqlite.close();
  });
  sqlite.exec('create table words (word text not null unique)');
  return sqlite;
}

test('guarded says full when SQLite finds no more room', () => {
  const sqlite = openRaw();
  sqlite.pragma('max_page_count=4');

  const fill = () => sqlite.prepare('insert into words values (?)').run('x'.repeat(100_000));

  expect(() => guarded('raw.db', fill)).toThrow(
    expect.objectContaining({
      name: 'StoreError',
      reason: 'full',
      message: 'Cannot use the database "raw.db": the disk is full (SQLITE_FULL)',
    }),
  );
});

test('guarded says read-only when the file may only be read', () => {
  const { name } = openRaw();
  const sqlite = new Sqlite(name, { readonly: true });

  const write = () => sqlite.prepare("insert into words values ('a')").run();

  expect(() => guarded('raw.db', write)).toThrow(expect.objectContaining({ reason: 'read-only' }));
  sqlite.close();
});

test('guarded lets a broken constraint out as it is, because that is our mistake', () => {
  const sqlite = openRaw();
  const insert = sqlite.prepare('insert into words values (?)');
  insert.run('twice');

  expect(() => guarded('raw.db', () => insert.run('twice'))).toThrow(Sqlite.SqliteError);
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
