/** The machine's clock, over timers that the test turns. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test('systemClock rings after a time that is longer than a timer can be, and not before', () => {
  let rings = 0;

  systemClock.after(60 * DAY_MS, () => {
    rings += 1;
  });
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  const tooEarly = rings;
  vi.advanceTimersByTime(1);

  expect(tooEarly).toBe(0);
  expect(rings).toBe(1);
});

test.each([0, 30])('systemClock cancels a long ring after %i days', (days) => {
  let rings = 0;
  const cancel = systemClock.after(60 * DAY_MS, () => {
    rings += 1;
  });

  vi.advanceTimersByTime(days * DAY_MS);
  cancel();
  vi.advanceTimersByTime(90 * DAY_MS);

  expect(rings).toBe(0);
});

test('systemClock never rings after an infinite time', () => {
  let rings = 0;

  systemClock.after(Number.POSITIVE_INFINITY, () => {
    rings += 1;
  });
  vi.advanceTimersByTime(365 * DAY_MS);

  expect(rings).toBe(0);
});
