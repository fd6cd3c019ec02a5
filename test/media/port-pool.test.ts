import { expect, test } from 'vitest';
import { PortPool, PortsExhaustedError } from '../../src/media/engine/port-pool.ts';

test('PortPool hands out the even ports of its range, from a chance beginning, in turn', () => {
  const pool = new PortPool({ range: { first: 20_000, last: 20_009 }, chance: 0.5 });

  const ports = [1, 2, 3, 4, 5].map(() => pool.claim());

  expect(ports).toEqual([20_004, 20_006, 20_008, 20_000, 20_002]);
});

test.each([
  [20_001, 20_005, [20_002, 20_004]],
  [20_000, 20_002, [20_000]],
])('PortPool of %i-%i leaves out ports without a neighbour', (first, last, expected) => {
  const pool = new PortPool({ range: { first, last }, chance: 0 });

  const ports = Array.from({ length: pool.size }, () => pool.claim());

  expect(ports).toEqual(expected);
});

test('PortPool throws when all are taken, and goes on when one is free', () => {
  const pool = new PortPool({ range: { first: 20_000, last: 20_003 }, chance: 0 });
  pool.claim();
  pool.claim();

  expect(() => pool.claim()).toThrow(PortsExhaustedError);
  pool.release(20_002);

  expect(pool.claim()).toBe(20_002);
});

test('PortPool reuses a port as late as it can', () => {
  const pool = new PortPool({ range: { first: 20_000, last: 20_007 }, chance: 0 });
  pool.release(pool.claim());

  const ports = [1, 2, 3, 4].map(() => pool.claim());

  expect(ports).toEqual([20_002, 20_004, 20_006, 20_000]);
});

test('PortPool of an empty range has no port', () => {
  const pool = new PortPool({ range: { first: 20_001, last: 20_001 }, chance: 0.9 });

  expect(() => pool.claim()).toThrow(/^Cannot open a media port in "20001-20001"/);
});
