import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseByteRange } from '../../src/api/routes/recording-routes.ts';

test.each([
  ['bytes=0-0', 10, { first: 0, last: 0 }],
  ['bytes=5-', 10, { first: 5, last: 9 }],
  ['bytes=-3', 10, { first: 7, last: 9 }],
  ['bytes=-30', 10, { first: 0, last: 9 }],
  ['bytes=2-99', 10, { first: 2, last: 9 }],
  ['Bytes=2-3', 10, { first: 2, last: 3 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=-1', 0, 'unsatisfiable'],
  ['bytes=3-2', 10, undefined],
  ['bytes=-', 10, undefined],
  ['bytes=0-1,2-3', 10, undefined],
  ['items=0-1', 10, undefined],
  ['', 10, undefined],
  [undefined, 10, undefined],
])('parseByteRange(%j) of %d bytes', (header, sizeBytes, expected) => {
  expect(parseByteRange(header, sizeBytes)).toEqual(expected);
});

test('parseByteRange never leaves the file, whatever is asked', () => {
  const headers = fc.oneof(
    fc.string(),
    fc.stringMatching(/^bytes=\d{0,20}-\d{0,20}$/),
    fc.constant(`bytes=${'9'.repeat(400)}-`),
  );

  fc.assert(
    fc.property(headers, fc.nat(1000), (header, sizeBytes) => {
      const range = parseByteRange(header, sizeBytes);

      if (typeof range !== 'object') return;
      expect(range.first).toBeGreaterThanOrEqual(0);
      expect(range.first).toBeLessThanOrEqual(range.last);
      expect(range.last).toBeLessThan(sizeBytes);
    }),
  );
});
