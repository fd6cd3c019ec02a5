import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EventLoopLag } from '../../src/lib/event-loop-lag.ts';

/** Lets the loop turn freely for a while. */
async function turnFreely(durationMs: number): Promise<void> {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs) await nextTurn();
}

test('EventLoopLag sees a loop that was held up, once', async () => {
  const lag = new EventLoopLag();
  lag.start();
  await turnFreely(60);

  const untilMs = performance.now() + 150;
  while (performance.now() < untilMs) Math.sqrt(2);
  await turnFreely(60);
  const seconds = lag.takeSeconds();
  lag.stop();

  expect(seconds).toBeGreaterThan(0.1);
  expect(lag.takeSeconds()).toBe(0);
});

test('EventLoopLag is 0 before it was started', () => {
  expect(new EventLoopLag().takeSeconds()).toBe(0);
});
