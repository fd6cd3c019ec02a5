/** Which stretch of a recording is drawn, and where its instants lie. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  moved,
  msAt,
  recordingOriginMs,
  shareAt,
  showing,
  shown,
  ticksOf,
  wholeOf,
  zoomed,
} from '../../src/dashboard/time-line.ts';

const AT = '2026-11-21T08:00:05.000Z';

const stretches = fc
  .tuple(fc.integer({ min: 0, max: 3_000_000 }), fc.integer({ min: 1000, max: 600_000 }))
  .map(([fromMs, lengthMs]) => ({ fromMs, toMs: fromMs + lengthMs }));

test('recordingOriginMs is the answer, and the beginning where there was none', () => {
  const answered = { timestamp: AT, kind: 'answered', details: {} };
  const began = '2026-11-21T08:00:00.000Z';

  expect(recordingOriginMs([{ ...answered, kind: 'ringing' }, answered], began)).toBe(
    Date.parse(AT),
  );
  expect(recordingOriginMs([], began)).toBe(Date.parse(began));
});

test('msAt is the reverse of shareAt', () => {
  fc.assert(
    fc.property(stretches, fc.double({ min: 0, max: 1, noNaN: true }), (stretch, share) => {
      expect(shareAt(stretch, msAt(stretch, share))).toBeCloseTo(share, 6);
    }),
  );
});

test('zoomed and moved stay inside the recording, and never come nearer than a second', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(0.5, 2, 10), fc.integer({ min: -90_000, max: 90_000 }))),
      (steps) => {
        const durationMs = 60_000;
        let stretch = wholeOf(durationMs);
        for (const [factor, byMs] of steps) {
          stretch = zoomed(stretch, durationMs, { factor, aroundMs: 20_000 });
          stretch = moved(stretch, durationMs, byMs);
        }
        expect(stretch.fromMs).toBeGreaterThanOrEqual(0);
        expect(stretch.toMs).toBeLessThanOrEqual(durationMs + 1e-6);
        expect(stretch.toMs - stretch.fromMs).toBeGreaterThanOrEqual(1000 - 1e-6);
      },
    ),
  );
});

test('zoomed keeps the instant around which it goes where it was', () => {
  const before = wholeOf(60_000);

  const after = zoomed(before, 60_000, { factor: 4, aroundMs: 15_000 });

  expect(after).toEqual({ fromMs: 11_250, toMs: 26_250 });
  expect(shareAt(after, 15_000)).toBe(shareAt(before, 15_000));
});

test('showing moves only when the instant is outside', () => {
  const stretch = { fromMs: 0, toMs: 10_000 };

  expect(showing(stretch, 60_000, 9000)).toBe(stretch);
  expect(showing(stretch, 60_000, 12_000)).toEqual({ fromMs: 11_500, toMs: 21_500 });
  expect(showing(stretch, 60_000, 60_000)).toEqual({ fromMs: 50_000, toMs: 60_000 });
});

test.each([
  [0, 60_000, 6, ['0:00', '0:10', '0:20', '0:30', '0:40', '0:50', '1:00']],
  [61_000, 62_000, 5, ['1:01.0', '1:01.2', '1:01.4', '1:01.6', '1:01.8', '1:02.0']],
  [0, 3_600_000, 4, ['0:00', '30:00', '60:00']],
])('ticksOf %i to %i', (fromMs, toMs, count, texts) => {
  expect(ticksOf({ fromMs, toMs }, count).map(({ text }) => text)).toEqual(texts);
});

test.each([
  [0, 5000, { from: 0, to: 0 }],
  [4000, 11_000, { from: 0, to: 0.6 }],
  [14_000, 90_000, { from: 0.9, to: 1 }],
  [0, 4000, undefined],
  [16_000, 17_000, undefined],
])('shown cuts a span from %i to %i at the edges', (fromMs, toMs, part) => {
  expect(shown({ fromMs: 5000, toMs: 15_000 }, { fromMs, toMs })).toEqual(part);
});
