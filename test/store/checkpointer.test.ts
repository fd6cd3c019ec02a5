/** Who brings SQLite's log into the database: a thread, or the connection itself where there is none. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Logger } from '../../src/lib/logger.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { Checkpointer, type StartCheckpoints } from '../../src/store/sqlite/checkpointer.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { build } from '../../src/store/sqlite/schema.ts';
import { testFolder } from '../support/store/test-store.ts';

/** Twice the usual pages of the log, and far less than what a thread leaves to the connection. */
const ROWS = 2000;
const VALUE = 'x'.repeat(4000);
const BYTES = ROWS * VALUE.length;

async function openWorld(options: { everyMs: number; startThread?: StartCheckpoints }) {
  const file = join(testFolder(), 'offhook.db');
  const { database } = await openDatabase({ file });
  const logged: string[] = [];
  const note: Logger['error'] = (_facts, message) => logged.push(String(message));
  const log = { ...silentLogger, warn: note, error: note };
  const checkpointer = new Checkpointer({ database, log, ...options });
  onTestFinished(async () => {
    await checkpointer.stop();
    database.close();
  });
  const write = async () => {
    for (let row = 0; row < ROWS; row += 1) {
      const secret = { name: `secret ${row}`, value: VALUE };
      await database.run(build.insertInto('secrets').values(secret));
    }
  };
  const size = () => statSync(file).size;
  return { file, database, checkpointer, logged, write, size };
}

/** Resolves when the checkpointer's thread has taken over the log. */
function logTaken(database: { setLogPages(pages: number): void }): Promise<void> {
  return new Promise((resolve) => {
    const set = database.setLogPages.bind(database);
    database.setLogPages = (pages) => {
      set(pages);
      resolve();
    };
  });
}

test('Checkpointer keeps the connection that writes from waiting for the disk', async () => {
  const { database, checkpointer, write, size } = await openWorld({ everyMs: 3_600_000 });
  const isTaken = logTaken(database);
  checkpointer.start();
  await isTaken;

  await write();

  expect(size()).toBeLessThan(BYTES / 2);
});

test('Checkpointer brings in by a thread what was written', async () => {
  const { database, checkpointer, write, size } = await openWorld({ everyMs: 10 });
  const isTaken = logTaken(database);
  checkpointer.start();
  await isTaken;

  await write();

  await vi.waitFor(() => expect(size()).toBeGreaterThan(BYTES), { timeout: 10_000 });
});

test('Checkpointer resets the log, so that its size stays limited', async () => {
  const { file, database, checkpointer, write } = await openWorld({ everyMs: 10 });
  const isTaken = logTaken(database);
  const logBytes = () => statSync(`${file}-wal`).size;
  checkpointer.start();
  await isTaken;
  await write();

  const grownBy = async () => {
    const before = logBytes();
    await database.run(build.deleteFrom('secrets'));
    return logBytes() - before;
  };

  await vi.waitFor(async () => expect(await grownBy()).toBe(0), { timeout: 10_000 });
});

test('Checkpointer empties the log, unless a reader holds it, and blocks no writer meanwhile', async () => {
  const { file, database, checkpointer, write } = await openWorld({ everyMs: 3_600_000 });
  const isTaken = logTaken(database);
  checkpointer.start();
  await isTaken;
  await write();
  const reader = new Sqlite(file);
  reader.exec('begin; select count(*) from secrets');
  await database.run(build.deleteFrom('secrets'));

  const asked = checkpointer.emptyLog();
  await write();
  const whileRead = await asked;
  reader.close();
  const after = await checkpointer.emptyLog();

  expect([whileRead, after]).toEqual([false, true]);
  expect(statSync(`${file}-wal`).size).toBe(0);
});

test('Checkpointer empties no log without its thread', async () => {
  const { checkpointer } = await openWorld({ everyMs: 10 });

  expect(await checkpointer.emptyLog()).toBe(false);
});

test('Checkpointer leaves the log to the connection once its thread has died, and says so', async () => {
  const startThread: StartCheckpoints = () =>
    new Worker(
      `const { parentPort } = require('node:worker_threads');
      parentPort.postMessage({ kind: 'ready' });`,
      { eval: true },
    );
  const { checkpointer, logged, write, size } = await openWorld({ everyMs: 10, startThread });
  checkpointer.start();
  await vi.waitFor(() => expect(logged).toHaveLength(1), { timeout: 10_000 });

  await write();

  expect(logged[0]).toMatch(/on the main thread/);
  expect(size()).toBeGreaterThan(BYTES / 2);
});

test('Checkpointer says that the disk refuses, and that it will be tried again', async () => {
  const startThread: StartCheckpoints = () =>
    new Worker(
      `const { parentPort } = require('node:worker_threads');
      parentPort.postMessage({ kind: 'refused', reason: 'disk I/O error' });
      parentPort.once('message', () => undefined);`,
      { eval: true },
    );
  const { checkpointer, logged } = await openWorld({ everyMs: 10, startThread });

  checkpointer.start();

  await vi.waitFor(() => expect(logged).toHaveLength(1), { timeout: 10_000 });
  expect(logged[0]).toMatch(/will try again/);
});

test('Checkpointer lets go of the file when it stops, twice and unstarted too', async () => {
  const { file, database, checkpointer, write, logged } = await openWorld({ everyMs: 10 });
  const isTaken = logTaken(database);
  await checkpointer.stop();
  checkpointer.start();
  await isTaken;
  await write();

  await checkpointer.stop();
  await checkpointer.stop();
  database.close();

  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(logged).toEqual([]);
});
