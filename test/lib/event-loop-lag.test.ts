import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EventLoopLag } from '../../src/lib/process/thread-use.ts';

/** Lets the loop come to its timers some times, however late the machine lets it: before, there is nothing to compare with. */
async function turnFreely(): Promise<void> {
  for (let times = 0; times < 5; times += 1) await wait(15);
}

test('EventLoopLag sees a loop that was held up, once', async () => {
  const lag = new EventLoopLag();
  lag.start();
  await turnFreely();

  const untilMs = performance.now() + 150;
  while (performance.now() < untilMs) Math.sqrt(2);
  await turnFreely();
  const seconds = lag.takeSeconds();
  lag.stop();

  expect(seconds).toBeGreaterThan(0.1);
  expect(lag.takeSeconds()).toBe(0);
});

test('EventLoopLag is 0 before it was started', () => {
  expect(new EventLoopLag().takeSeconds()).toBe(0);
});
