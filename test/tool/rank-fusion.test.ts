import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fusedRanks } from '../../src/tool/knowledge/agent-search.ts';

const same = (item: number) => item;

test('what two lists have comes before what one of them has first', () => {
  expect(
    fusedRanks(
      [
        [1, 2],
        [3, 2],
      ],
      same,
    ),
  ).toEqual([2, 1, 3]);
});

test('one list stays as it is', () => {
  expect(fusedRanks([[5, 3, 9], []], same)).toEqual([5, 3, 9]);
});

test('everything is in the result once, and better places never count for less', () => {
  const list = fc.uniqueArray(fc.nat(30), { maxLength: 20 });
  fc.assert(
    fc.property(list, list, (one, other) => {
      const fused = fusedRanks([one, other], same);
      expect([...fused].sort()).toEqual([...new Set([...one, ...other])].sort());
      expect(fusedRanks([one, one], same)).toEqual(one);
    }),
  );
});
