import { expect, test } from 'vitest';
import { targetLine } from '../bench/lib/harness.ts';

test.each([
  [1, 0.1, 'ok     ratio: 1 (target <= 1, tolerance 10 %)'],
  [
    1.003,
    0.1,
    'MISSED ratio: 1.003 (target <= 1, tolerance 10 %; missed within 10 %, so the gate lets it pass)',
  ],
  [1.2, 0.1, 'MISSED ratio: 1.2 (target <= 1, tolerance 10 %)'],
  [1.003, 0, 'MISSED ratio: 1.003 (target <= 1, no tolerance)'],
  [Number.NaN, 0.1, 'MISSED ratio: NaN (target <= 1, tolerance 10 %)'],
])('A bench’s target of 1 says of %s what it is', (value, tolerance, line) => {
  expect(targetLine({ name: 'ratio', value, limit: 1, tolerance })).toBe(line);
});
