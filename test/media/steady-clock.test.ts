/** Rings by the machine's own time: never early, never after being cancelled, whoever wakes the thread meanwhile. */
import { expect, test } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { Alarm, newAlarmMemory, steadyClock } from '../../src/media/worker/pacer.ts';

function quietClock(): Clock {
  return steadyClock(new Alarm(newAlarmMemory()));
}

/** How long it took to ring. */
function ringAfter(clock: Clock, delayMs: number): Promise<number> {
  const askedAtMs = clock.nowMs();
  return new Promise((resolve) => {
    clock.after(delayMs, () => resolve(clock.nowMs() - askedAtMs));
  });
}

test.each([0, 0.4, 1, 7])('steadyClock rings after %d ms and not before', async (delayMs) => {
  const waitedMs = await ringAfter(quietClock(), delayMs);

  // Readings of the clock are rounded to a microsecond.
  expect(waitedMs).toBeGreaterThanOrEqual(delayMs - 0.001);
});

test.each([
  1, 7,
])('steadyClock does not ring after %d ms when that was cancelled', async (delayMs) => {
  const clock = quietClock();
  let hasRung = false;
  const cancel = clock.after(delayMs, () => {
    hasRung = true;
  });

  cancel();
  cancel();
  await ringAfter(clock, delayMs + 3);

  expect(hasRung).toBe(false);
});

test('steadyClock rings at its time although the alarm woke the thread before', async () => {
  const memory = newAlarmMemory();
  const clock = steadyClock(new Alarm(memory));
  new Alarm(memory).ring();

  const waitedMs = await ringAfter(clock, 5);

  expect(waitedMs).toBeGreaterThanOrEqual(4.999);
});
