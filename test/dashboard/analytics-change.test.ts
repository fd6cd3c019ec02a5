import { expect, test } from 'vitest';
import { changeOf, differenceOf, shareOf } from '../../src/dashboard/analytics/report-sums.ts';

test.each([
  [120, 100, 'neither', { by: 0.2, tone: 'plain' }],
  [800, 1000, 'less', { by: -0.2, tone: 'good' }],
  [1200, 1000, 'less', { by: 0.2, tone: 'bad' }],
  [100, 100, 'more', { by: 0, tone: 'plain' }],
  [1001, 1000, 'less', { by: 0.001, tone: 'plain' }],
] as const)('changeOf %i after %i, where %s is better', (now, before, better, change) => {
  expect(changeOf(now, before, better)).toEqual(change);
});

test.each([
  [5, 0],
  [null, 100],
  [100, null],
])('changeOf %s after %s is none', (now, before) => {
  expect(changeOf(now, before, 'more')).toBeUndefined();
});

test('differenceOf shares is in shares, and there is one after zero', () => {
  expect(differenceOf(0.5, 0, 'more')).toEqual({ by: 0.5, tone: 'good' });
  expect(differenceOf(null, 0.5, 'more')).toBeUndefined();
});

test('shareOf nothing is null', () => {
  expect([shareOf(0, 0), shareOf(1, 4)]).toEqual([null, 0.25]);
});
