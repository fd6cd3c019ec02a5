/** A server whose standard output is full, slow or gone: lines of the log are lost, calls and requests are not. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Stranger } from '../../support/network/stranger.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

/** Each of them is a line of the log: more than a pipe, or the small file system, has room for. */
const REQUESTS = 1500;

const LOSS = /"level":"error".*"lines":\d+.*ENOSPC.*"msg":"lines of the log were lost/g;

const EXIT_MS_MAX = 10_000;

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file system with room for some 500 lines; unmounted when the test is over. */
function smallDisk(): string | null {
  const folder = join(scratch(), 'mnt');
  mkdirSync(folder);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'none', folder]);
  if (mounted.status !== 0) return null;
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  return folder;
}

/** Both ends of a pipe; the server gets the second. */
function pipe(): { readonly reading: number; readonly writing: number } {
  const path = join(scratch(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reading, writing: openSync(path, constants.O_WRONLY) };
}

async function serverWith(stdout: number): Promise<TestServer> {
  const server = await startServer({ stdout });
  closeSync(stdout);
  onTestFinished(() => server.stop());
  return server.ready();
}

async function makeLines(server: TestServer): Promise<void> {
  for (let n = 0; n < REQUESTS; n += 50) {
    await Promise.all(Array.from({ length: 50 }, () => server.api('GET', '/api/agents?limit=1')));
  }
}

/** Whether the server answers over HTTP and SIP: statuses. */
async function answers(server: TestServer): Promise<readonly number[]> {
  const stranger = new Stranger(server.sipPort);
  await stranger.start();
  onTestFinished(() => stranger.stop());
  const health = await fetch(`${server.baseUrl}/healthz`, { signal: AbortSignal.timeout(5000) });
  return [health.status, await stranger.askOptions()];
}

async function linesLost(server: TestServer): Promise<number> {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  return Number(/^offhook_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
}

/** Resolves with the exit status after SIGTERM; `still running` when it does not end. */
function ended(server: TestServer): Promise<number | null | 'still running'> {
  server.kill('SIGTERM');
  const late = new Promise<'still running'>((resolve) => {
    setTimeout(() => resolve('still running'), EXIT_MS_MAX).unref();
  });
  return Promise.race([server.exited, late]);
}

test('a full disk under the log costs lines only, says so when there is room again, and SIGTERM ends the server', async (context) => {
  const folder = smallDisk();
  if (folder === null) return context.skip('mounting a small file system takes root');
  const file = join(folder, 'x.log');
  const log = openSync(file, 'a');
  const server = await serverWith(log);

  for (let lost = 0; lost === 0; lost = await linesLost(server)) await makeLines(server);
  const whileFull = await answers(server);
  execFileSync('mount', ['-o', 'remount,size=16m', folder]);

  expect(whileFull).toEqual([200, 200]);
  await expect
    .poll(() => readFileSync(file, 'utf8').match(LOSS)?.length, { timeout: 5000 })
    .toBe(1);
  await expect(ended(server)).resolves.toBe(0);
});

test('a device that takes nothing costs lines only', async () => {
  const server = await serverWith(openSync('/dev/full', 'w'));

  await makeLines(server);

  await expect(answers(server)).resolves.toEqual([200, 200]);
  await expect(ended(server)).resolves.toBe(0);
});

test('a pipe whose reader went away costs lines only', async () => {
  const { reading, writing } = pipe();
  closeSync(reading);
  const server = await serverWith(writing);

  await makeLines(server);

  await expect(answers(server)).resolves.toEqual([200, 200]);
  await expect(ended(server)).resolves.toBe(0);
});

test('a pipe whose reader stands still costs lines only, and does not hold up the end', async () => {
  const { reading, writing } = pipe();
  onTestFinished(() => closeSync(reading));
  const server = await serverWith(writing);

  await makeLines(server);

  await expect(answers(server)).resolves.toEqual([200, 200]);
  await expect(ended(server)).resolves.toBe(0);
});
