import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Impairment, meanOpinionScore } from '../../src/domain/agent/voice-catalogue.ts';

const PERFECT: Impairment = { lossPercent: 0, jitterMs: 0, roundTripMs: 0 };

test.each([
  ['nothing at all', {}, 4.4],
  ['a percent of loss', { lossPercent: 1 }, 3.813],
  ['five percent of loss', { lossPercent: 5 }, 2.145],
  ['a percent of loss that is concealed', { lossPercent: 1, isConcealed: true }, 4.316],
  ['five percent of loss that is concealed', { lossPercent: 5, isConcealed: true }, 3.903],
  ['a satellite', { roundTripMs: 600 }, 3.589],
  ['a continent', { roundTripMs: 150 }, 4.361],
  ['jitter', { jitterMs: 50 }, 4.347],
  ['nothing that comes', { lossPercent: 100 }, 1],
])('meanOpinionScore of %s', (_case, impairment, score) => {
  expect(meanOpinionScore({ ...PERFECT, ...impairment })).toBeCloseTo(score, 2);
});

test('meanOpinionScore takes an unknown round trip for none', () => {
  const unknown = { ...PERFECT, roundTripMs: undefined };

  expect(meanOpinionScore(unknown)).toBe(meanOpinionScore(PERFECT));
});

test('meanOpinionScore stays on its scale, and never gets better by more impairment', () => {
  const figures = fc.record({
    lossPercent: fc.double({ min: 0, max: 100, noNaN: true }),
    jitterMs: fc.double({ min: 0, max: 500, noNaN: true }),
    roundTripMs: fc.double({ min: 0, max: 5000, noNaN: true }),
  });

  fc.assert(
    fc.property(
      figures,
      fc.constantFrom('lossPercent', 'jitterMs', 'roundTripMs'),
      (one, field) => {
        const score = meanOpinionScore(one);
        const worse = meanOpinionScore({ ...one, [field]: one[field] + 1 });

        expect(score).toBeLessThanOrEqual(4.41);
        expect(worse).toBeGreaterThanOrEqual(0.98);
        // Under a rating of 6.5 the polynomial itself turns, by less than anybody could see.
        expect(worse).toBeLessThanOrEqual(score + 0.02);
      },
    ),
    { seed: 6 },
  );
});
