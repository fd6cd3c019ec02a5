import { expect, test } from 'vitest';
import { BoundedMap } from '../../src/lib/bounded-map.ts';

test('BoundedMap drops its oldest entry for a new one', () => {
  const map = new BoundedMap<string, number>(2);

  map.set('a', 1).set('b', 2).set('c', 3);

  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ]);
});

test('BoundedMap makes an entry that is set again the newest, and drops none for it', () => {
  const map = new BoundedMap<string, number>(2);

  map.set('a', 1).set('b', 2).set('a', 3);

  expect([...map]).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
});
