import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ANSWER_SCALE,
  answerTimesOf,
  countTimes,
  percentilesOf,
  sumOfCounts,
} from '../../src/domain/analytics/answer-times.ts';

const turn = (details: Record<string, unknown>, kind = 'turn') => ({
  at: new Date('2026-11-20T12:00:00.000Z'),
  kind,
  details,
});

test('answerTimesOf takes the turns whose answer was heard', () => {
  const timeline = [
    turn({ firstPacketMs: 812.4 }),
    turn({ endOfTurnMs: 300 }),
    turn({ firstPacketMs: null }),
    turn({ firstPacketMs: 900 }, 'greeting'),
  ];

  expect(answerTimesOf(timeline)).toEqual([812.4]);
});

test('percentilesOf nothing is null, and not a zero', () => {
  expect(percentilesOf(countTimes([], ANSWER_SCALE), ANSWER_SCALE)).toBeNull();
});

test('percentilesOf are within 4 % and 5 ms of those of the times themselves, however they were added up', () => {
  const times = fc.array(fc.integer({ min: 50, max: 60_000 }), { minLength: 1, maxLength: 200 });

  fc.assert(
    fc.property(times, fc.nat({ max: 200 }), (answersMs, cut) => {
      const sorted = answersMs.toSorted((one, other) => one - other);
      const exact = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;

      const parts = [answersMs.slice(0, cut), answersMs.slice(cut)].map((part) =>
        countTimes(part, ANSWER_SCALE),
      );
      const found = percentilesOf(sumOfCounts(parts), ANSWER_SCALE);

      expect(found?.turns).toBe(answersMs.length);
      for (const [ms = Number.NaN, share] of [
        [found?.p50Ms, 0.5],
        [found?.p95Ms, 0.95],
      ] as const) {
        expect(Math.abs(ms - exact(share))).toBeLessThan(exact(share) * 0.04 + 5);
      }
    }),
  );
});

test.each([
  [-5, 50],
  [0, 50],
  [50, 50],
  [60_000, 59_420],
  [10_000_000, 59_420],
])('a time of %i ms is counted as %i: none is outside', (answerMs, shownMs) => {
  expect(percentilesOf(countTimes([answerMs], ANSWER_SCALE), ANSWER_SCALE)?.p50Ms).toBe(shownMs);
});
