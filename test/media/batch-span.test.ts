import { expect, test } from 'vitest';
import { batchSpanMs } from '../../src/media/batch-span.ts';

test('batchSpanMs makes nobody wait while lines are few, and divides the 20 ms of a packet', () => {
  const spansMs = [0, 1, 399, 400, 2_000].map(batchSpanMs);

  expect(spansMs).toEqual([1, 1, 1, 2, 2]);
  expect(spansMs.every((spanMs) => 20 % spanMs === 0)).toBe(true);
});
