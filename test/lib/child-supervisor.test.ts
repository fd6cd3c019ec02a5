/** Real child processes that crash, hang and are killed under their supervisor. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { ChildSupervisor, forkChild } from '../../src/lib/process/child-supervisor.ts';

type ToChild = { readonly kind: 'ping' | 'crash' | 'hang' | 'stop' };
type FromChild =
  | { readonly kind: 'ready'; readonly pid: number }
  | { readonly kind: 'unready'; readonly reason: string }
  | { readonly kind: 'pong'; readonly pid: number };

const CHILD = `
const [start, stop] = process.argv.slice(2);
if (start === 'dies') process.exit(3);
if (start === 'complains') process.send({ kind: 'unready', reason: 'no model' });
if (start === 'works') process.send({ kind: 'ready', pid: process.pid });
process.on('message', ({ kind }) => {
  if (kind === 'ping') process.send({ kind: 'pong', pid: process.pid });
  if (kind === 'crash') process.kill(process.pid, 'SIGSEGV');
  if (kind === 'hang') for (;;);
  if (kind === 'stop' && stop !== 'ignores-stop') process.exit(0);
});
`;

let folder = '';
let file: URL;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-child-'));
  const path = join(folder, 'child.mjs');
  await writeFile(path, CHILD);
  file = pathToFileURL(path);
});

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

afterAll(() => rm(folder, { recursive: true }));

function supervise({ start = 'works', stop = 'obeys', startMsMax = 10_000 } = {}) {
  const pids: number[] = [];
  const pongs: number[] = [];
  const ends: string[] = [];
  const supervisor = new ChildSupervisor<ToChild, FromChild, number>({
    fork: () => forkChild(file, [start, stop]),
    clock: systemClock,
    startMsMax,
    stopMessage: { kind: 'stop' },
    startReportOf: (message) => {
      if (message.kind === 'ready') return { isReady: true, value: message.pid };
      return message.kind === 'unready' ? { isReady: false, reason: message.reason } : null;
    },
    onMessage: (message) => {
      if (message.kind === 'pong') pongs.push(message.pid);
    },
    onUp: (pid) => pids.push(pid),
    onDown: (how) => ends.push(how),
    onRestartFailed: () => undefined,
  });
  stops.push(() => supervisor.stop());
  return { supervisor, pids, pongs, ends };
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('ChildSupervisor passes messages on once its child is ready', async () => {
  const { supervisor, pongs } = supervise();

  const pid = await supervisor.start();
  supervisor.send({ kind: 'ping' });

  await vi.waitFor(() => expect(pongs).toEqual([pid]), 5000);
});

test.each([
  ['dies', /its process ended with exit code 3/],
  ['complains', /^no model$/],
])('ChildSupervisor.start throws for a child that %s, and restarts nothing', async (start, why) => {
  const { supervisor, pids } = supervise({ start });

  await expect(supervisor.start()).rejects.toThrow(why);

  expect(supervisor.isUp).toBe(false);
  expect(pids).toEqual([]);
});

test('ChildSupervisor.start throws for a child that is not ready in time, and ends it', async () => {
  const { supervisor } = supervise({ start: 'waits', startMsMax: 300 });

  await expect(supervisor.start()).rejects.toThrow('not ready after 300 ms');
});

test('ChildSupervisor replaces a child that crashes, and says how it ended', async () => {
  const { supervisor, pids, ends } = supervise();
  await supervisor.start();

  supervisor.send({ kind: 'crash' });

  await vi.waitFor(() => expect(pids).toHaveLength(2), 5000);
  expect(ends).toEqual(['signal SIGSEGV']);
  expect(isAlive(pids[0])).toBe(false);
});

test('ChildSupervisor replaces a child that is killed from outside', async () => {
  const { supervisor, pids, ends } = supervise();
  const first = await supervisor.start();

  process.kill(first, 'SIGKILL');

  await vi.waitFor(() => expect(pids).toHaveLength(2), 5000);
  expect(ends).toEqual(['signal SIGKILL']);
});

test('ChildSupervisor.replace kills a child that hangs; the next one answers', async () => {
  const { supervisor, pids, pongs } = supervise();
  await supervisor.start();
  supervisor.send({ kind: 'hang' });

  supervisor.replace();
  await vi.waitFor(() => expect(pids).toHaveLength(2), 5000);
  supervisor.send({ kind: 'ping' });

  await vi.waitFor(() => expect(pongs).toEqual([pids[1]]), 5000);
});

test('ChildSupervisor.stop ends its child for good, twice without harm', async () => {
  const { supervisor, pids, ends } = supervise();
  const pid = await supervisor.start();

  await Promise.all([supervisor.stop(), supervisor.stop()]);
  await supervisor.stop();

  expect(isAlive(pid)).toBe(false);
  expect({ pids, ends }).toEqual({ pids: [pid], ends: [] });
});

test('ChildSupervisor.stop kills a child that does not obey', async () => {
  const { supervisor } = supervise({ stop: 'ignores-stop' });
  const pid = await supervisor.start();

  await supervisor.stop();

  expect(isAlive(pid)).toBe(false);
});

test('ChildSupervisor.stop during a start leaves no child', async () => {
  const { supervisor, pids } = supervise();
  const started = supervisor.start().catch((error: Error) => error.message);

  await supervisor.stop();

  expect(await started).toContain('its process ended');
  expect(pids).toEqual([]);
  expect(supervisor.isUp).toBe(false);
});
