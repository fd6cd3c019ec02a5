import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { silentLogger } from '../../../src/lib/logger.ts';
import { openStore } from '../../../src/store/store.ts';
import { addAccount, testFolder } from '../../support/store/test-store.ts';
import { FakeClock } from '../../support/time/fake-clock.ts';

const ROUNDS = 20;

/** Different in every round, so that kills fall into all parts of a transaction. */
const WRITES_BEFORE_KILL = [1, 2, 3, 5, 8, 13, 21, 34];

const WRITER = new URL('../../support/store/crash-writer.ts', import.meta.url).pathname;

/** Lets a process write calls until it has acknowledged `count`, then kills it. @returns the last acknowledged one. */
async function writeAndKill(file: string, round: number, count: number): Promise<number> {
  const writer = spawn(process.execPath, [WRITER, file, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let acknowledged = 0;
  for await (const line of createInterface({ input: outputOf(writer) })) {
    acknowledged = Number(line);
    if (acknowledged === count) writer.kill('SIGKILL');
  }
  if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
  return acknowledged;
}

function outputOf(writer: ChildProcess): NodeJS.ReadableStream {
  if (writer.stdout === null) throw new Error('Cannot read what the writer acknowledged');
  return writer.stdout;
}

async function createDatabase(): Promise<string> {
  const file = join(testFolder(), 'offhook.db');
  const store = await openStore({ file, clock: new FakeClock(), log: silentLogger });
  await addAccount(store, 'acct_1');
  await store.close();
  return file;
}

test('Store loses no acknowledged call, tears none from its events and its cost, and stays whole under SIGKILL', async () => {
  const file = await createDatabase();
  const acknowledged: number[] = [];

  for (let round = 0; round < ROUNDS; round++) {
    const count = WRITES_BEFORE_KILL[round % WRITES_BEFORE_KILL.length] ?? 1;
    acknowledged.push(await writeAndKill(file, round, count));
  }

  const sqlite = new Sqlite(file, { readonly: true });
  const kept = sqlite.prepare('select count(*) from calls where id like ?').pluck();
  const missing = acknowledged.map((last, round) =>
    Math.max(0, last - Number(kept.get(`call_${round}_%`))),
  );
  const torn = sqlite
    .prepare('select count(*) from calls where id not in (select call_id from events)')
    .pluck()
    .get();
  const [uncharged, calls, sums] = sqlite
    .prepare(`select (select count(*) from calls where (ended_at is null) <> (cost is null)) as uncharged,
      (select sum(json_extract(cost, '$.micros')) from calls) as calls,
      (select sum(micros) from call_costs where agent_id = '') as sums`)
    .raw()
    .get() as readonly number[];
  expect(acknowledged.every((last) => last >= 1)).toBe(true);
  expect(missing).toEqual(Array<number>(ROUNDS).fill(0));
  expect(torn).toBe(0);
  expect([uncharged, sums]).toEqual([0, calls]);
  expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok');
  sqlite.close();
});
