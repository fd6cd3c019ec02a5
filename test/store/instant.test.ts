import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instantText } from '../../src/store/sqlite/instant.ts';

test('instantText writes what Date.toISOString writes, in any order of days', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), fc.nat({ max: 200_000_000 }), (date, laterMs) => {
      for (const unixMs of [date.getTime(), date.getTime() + laterMs, date.getTime()]) {
        if (Math.abs(unixMs) > 8.64e15) continue;
        expect(instantText(unixMs)).toBe(new Date(unixMs).toISOString());
      }
    }),
  );
});
