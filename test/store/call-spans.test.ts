import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DayCount, type Span, spansOfPage } from '../../src/store/calls/call-list.ts';

const DAY_MS = 86_400_000;

const daysArbitrary = fc
  .uniqueArray(
    fc.record({ day: fc.integer({ min: 0, max: 12 }), calls: fc.integer({ min: 1, max: 5 }) }),
    {
      selector: ({ day }) => day,
    },
  )
  .map((days) => days.sort((one, other) => other.day - one.day));

/** Every call of the days by name, newest first. */
function callsOf(days: readonly DayCount[]): readonly string[] {
  return days.flatMap(({ day, calls }) =>
    Array.from({ length: calls }, (_, index) => `${day}/${index}`),
  );
}

/** What a list that may only look into the span's days takes from them. */
function callsIn({ fromMs, beforeMs, offset, limit }: Span, days: readonly DayCount[]) {
  const inside = days.filter(({ day }) => day * DAY_MS >= fromMs && day * DAY_MS < beforeMs);
  return callsOf(inside).slice(offset, offset + limit);
}

test('spansOfPage takes the calls that skipping one by one would', () => {
  fc.assert(
    fc.property(
      daysArbitrary,
      fc.nat({ max: 40 }),
      fc.integer({ min: 1, max: 10 }),
      (days, offset, limit) => {
        const spans = spansOfPage(days, { offset, limit });

        const taken = spans.flatMap((span) => callsIn(span, days));
        expect(taken).toEqual(callsOf(days).slice(offset, offset + limit));
      },
    ),
    { numRuns: 1000 },
  );
});

test('spansOfPage joins days that follow each other and leaves out days without calls', () => {
  const days = [
    { day: 9, calls: 2 },
    { day: 8, calls: 2 },
    { day: 7, calls: 2 },
    { day: 3, calls: 2 },
    { day: 1, calls: 2 },
  ];

  expect(spansOfPage(days, { offset: 3, limit: 4 })).toEqual([
    { fromMs: 7 * DAY_MS, beforeMs: 9 * DAY_MS, offset: 1, limit: 3 },
    { fromMs: 3 * DAY_MS, beforeMs: 4 * DAY_MS, offset: 0, limit: 1 },
  ]);
});
