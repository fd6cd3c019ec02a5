import { expect, test } from 'vitest';
import { editDistance } from '../../src/lib/edit-distance.ts';

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['kitten', 'sitting', 3],
  ['flaw', 'lawn', 2],
  [['good', 'day'], ['good', 'old', 'day'], 1],
])('editDistance from %j to %j is %i', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
});
