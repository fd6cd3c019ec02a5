import { expect, test } from 'vitest';
import { randomPool } from '../../src/lib/random-pool.ts';

test('RandomPool gives as many bytes as asked for, across refills and more than it holds', () => {
  const random = randomPool();

  for (const size of [0, 1, 16, 4000, 4096, 5000, 16]) expect(random(size)).toHaveLength(size);
});

test('RandomPool gives no byte twice', () => {
  const random = randomPool();

  const pieces = Array.from({ length: 2000 }, () => Buffer.from(random(16)).toString('hex'));

  expect(new Set(pieces).size).toBe(2000);
});

test('RandomPool leaves what it gave to whom it gave it', () => {
  const random = randomPool();
  const first = random(16);
  const before = [...first];

  for (let index = 0; index < 1000; index++) random(16);

  expect([...first]).toEqual(before);
  expect(before.some((byte) => byte !== 0)).toBe(true);
});
