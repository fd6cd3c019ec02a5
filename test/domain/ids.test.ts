import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base62, idMaker, newId } from '../../src/domain/ids.ts';

test('newId makes a prefix, an underscore and 24 base62 characters', () => {
  const id = newId('call', { nowMs: 1_795_000_000_000, random: randomBytes });

  expect(id).toMatch(/^call_[0-9A-Za-z]{24}$/);
});

test('newId of a later millisecond sorts after every earlier one', () => {
  const instants = fc.integer({ min: 0, max: 4_102_444_800_000 });

  fc.assert(
    fc.property(instants, instants, (a, b) => {
      fc.pre(a < b);
      const earlier = newId('call', { nowMs: a, random: () => Uint8Array.of(247) });
      const later = newId('call', { nowMs: b, random: () => Uint8Array.of(0) });
      expect(earlier < later).toBe(true);
    }),
  );
});

test('base62 leaves out the bytes that would make some characters likelier', () => {
  const batches = [Uint8Array.of(255, 248, 0), Uint8Array.of(61, 62), Uint8Array.of(247)];

  const text = base62(4, () => batches.shift() ?? Uint8Array.of());

  expect(text).toBe('0z0z');
});

test('idMaker never repeats an id within a millisecond', () => {
  const next = idMaker({ nowMs: () => 5, random: randomBytes });

  const ids = new Set(Array.from({ length: 10_000 }, () => next('req')));

  expect(ids.size).toBe(10_000);
});
