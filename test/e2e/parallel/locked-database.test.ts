/** Calls that begin, go on and end while another process has the database's write lock for seconds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';

/** Takes the lock in another process, which keeps it for `ms`. Resolves when it has it. */
async function lockFor(file: string, ms: number): Promise<void> {
  const sqlite = JSON.stringify(import.meta.resolve('better-sqlite3'));
  const program = `
    const { default: Sqlite } = await import(${sqlite});
    const database = new Sqlite(process.argv[1], { timeout: 5000 });
    database.exec('begin immediate');
    process.stdout.write('locked');
    setTimeout(() => { database.exec('commit'); database.close(); }, ${ms});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  await once(child.stdout, 'data');
}

test('a database that another process has for 4 s loses no call: they begin, go on and end meanwhile', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-data-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await startServer({ dataDir });
  onTestFinished(() => server.stop());
  await server.ready();
  await server.createAgent({ phoneNumber: NUMBER, greeting: 'We are open every day. '.repeat(12) });
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const to = `sip:${NUMBER}@127.0.0.1:${server.sipPort}`;
  const goesOn = await phone.call(to);
  const ends = await phone.call(to);
  await setTimeout(1500);

  await lockFor(join(dataDir, 'offhook.db'), 4000);
  const heardBefore = goesOn.line.heard.length;
  const beginning = phone.call(to);
  await ends.hangUp();
  await setTimeout(3000);
  const packets = goesOn.line.heard.length - heardBefore;
  const begun = await beginning;
  await setTimeout(1000);
  await begun.hangUp();
  await goesOn.hangUp();
  await server.endedCalls();

  // 50 packets a second for 3 s, less what a busy machine delays.
  expect(packets).toBeGreaterThan(120);
  const { body } = await server.api('GET', '/api/calls');
  const calls = body.data as readonly { readonly id: string; readonly status: string }[];
  expect(calls.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  const database = new Sqlite(join(dataDir, 'offhook.db'), { readonly: true });
  onTestFinished(() => void database.close());
  const ended = database
    .prepare("select call_id, kind from events where kind = 'call.ended'")
    .all();
  expect(ended).toHaveLength(3);
  await expect
    .poll(() => database.prepare('select count(*) from open_dialogs').pluck().get(), {
      timeout: 5000,
    })
    .toBe(0);
});
