import { EventEmitter, once } from 'node:events';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { ThreadUse } from '../../src/lib/process/thread-use.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const IDLE = 'setInterval(() => undefined, 1000)';
const BUSY = 'setInterval(() => { const until = Date.now() + 20; while (Date.now() < until); }, 1)';

/** Asks now and then until the answer is as wanted; the last one, after 20 s: a busy machine gives a thread little. */
async function askUntil(use: ThreadUse, isWanted: (share: number) => boolean): Promise<number> {
  let share = use.takeBusyShare();
  for (let tries = 0; tries < 200 && !isWanted(share); tries += 1) {
    await wait(100);
    share = use.takeBusyShare();
  }
  return share;
}

test('ThreadUse tells how busy the busiest thread is, and forgets those that have ended', async () => {
  const use = new ThreadUse(systemClock);
  use.start();
  const threads = [IDLE, BUSY].map((code) => new Worker(code, { eval: true }));
  await Promise.all(threads.map((thread) => once(thread, 'online')));

  const busy = await askUntil(use, (share) => share > 0.2);
  await threads[1]?.terminate();
  const idle = await askUntil(use, (share) => share < 0.1);
  await threads[0]?.terminate();
  use.stop();
  use.stop();

  expect(busy).toBeGreaterThan(0.2);
  expect(idle).toBeLessThan(0.1);
  expect(use.takeBusyShare()).toBe(0);
});

/** A thread that answers as the test says, as `process` tells of real ones. */
function announceThread(cpuUsage: () => Promise<{ user: number; system: number }>): void {
  const thread = Object.assign(new EventEmitter(), { cpuUsage });
  (process as EventEmitter).emit('worker', thread);
}

test('ThreadUse goes on asking the others where one thread never answers', async () => {
  const clock = new FakeClock();
  const use = new ThreadUse(clock);
  let usedUs = 0;
  use.start();
  announceThread(() => new Promise(() => undefined));
  announceThread(() => Promise.resolve({ user: usedUs, system: 0 }));

  use.takeBusyShare();
  await setImmediate();
  clock.advance(1000);
  usedUs = 900_000;
  use.takeBusyShare();
  await setImmediate();
  const share = use.takeBusyShare();
  use.stop();

  expect(share).toBeCloseTo(0.9);
});
