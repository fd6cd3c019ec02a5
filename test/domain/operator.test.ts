/** How wrong tries are held back and forgiven, and when a session is over. */
import { expect, test } from 'vitest';
import { nextTryAtMs, sessionEndsAtMs, withWrongTry } from '../../src/domain/account/user.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

test.each([
  [4, Number.NEGATIVE_INFINITY],
  [5, 1000],
  [6, 2000],
  [14, 512_000],
  [15, 900_000],
  [5000, 900_000],
])('nextTryAtMs after %d wrong tries, five of them free', (count, expected) => {
  expect(nextTryAtMs({ count, lastAtMs: 0 }, 5)).toBe(expected);
});

test.each([
  [0, 11],
  [15 * MINUTE_MS - 1, 11],
  [15 * MINUTE_MS, 10],
  [150 * MINUTE_MS, 1],
  [24 * HOUR_MS, 1],
])('withWrongTry %d ms after ten others makes %d', (sinceMs, expected) => {
  const tries = withWrongTry({ count: 10, lastAtMs: 0 }, sinceMs);

  expect(tries).toEqual({ count: expected, lastAtMs: sinceMs });
});

test('A client that retries at every chance gets at most four tries an hour in the end', () => {
  let tries = withWrongTry(undefined, 0);
  let made = 1;

  while (tries.lastAtMs < 240 * HOUR_MS) {
    tries = withWrongTry(tries, Math.max(tries.lastAtMs, nextTryAtMs(tries, 5)));
    made += 1;
  }

  expect(made).toBeLessThanOrEqual(15 + 240 * 4);
});

test('sessionEndsAtMs is two hours after the last use, twelve after the beginning at most', () => {
  const createdAtMs = 0;

  expect(sessionEndsAtMs({ createdAtMs, lastUsedAtMs: HOUR_MS })).toBe(3 * HOUR_MS);
  expect(sessionEndsAtMs({ createdAtMs, lastUsedAtMs: 11 * HOUR_MS })).toBe(12 * HOUR_MS);
});
