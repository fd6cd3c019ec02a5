import { expect, test } from 'vitest';
import { ReceiveRing, RingPool } from '../../src/media/sound-rings.ts';

/** When whatever was given back at 0 has rested. */
const LATER_MS = 4096;

const VOICE = new Int16Array(160).fill(7000);

/** As another thread has it. */
function elsewhere(ring: ReceiveRing): ReceiveRing {
  return new ReceiveRing(structuredClone(ring.buffer));
}

test('RingPool gives the memory of a ring again that was given back, and an empty ring in it', () => {
  const pool = new RingPool();
  const first = pool.claim(LATER_MS);
  first.write(VOICE, 1000);
  pool.release(first, 0);

  const next = pool.claim(LATER_MS);

  expect(next.buffer.memory).toBe(first.buffer.memory);
  expect(next).toMatchObject({ end: 0, endAtMs: 0, oldest: 0 });
  expect(next.read(0)).toHaveLength(0);
});

test('RingPool gives different memory to calls of one time', () => {
  const pool = new RingPool();

  const [one, other] = [pool.claim(LATER_MS), pool.claim(LATER_MS)];

  expect(one.buffer.memory).not.toBe(other.buffer.memory);
});

test('RingPool hides the next call in the same memory from the listeners of the last one', () => {
  const pool = new RingPool();
  const first = pool.claim(LATER_MS);
  const listening = elsewhere(first);
  pool.release(first, 0);
  const next = pool.claim(LATER_MS);
  const listeningToNext = elsewhere(next);

  elsewhere(next).write(VOICE, 1000);

  expect(first.read(0)).toHaveLength(0);
  expect(listening.read(0)).toHaveLength(0);
  expect(elsewhere(first).read(0)).toHaveLength(0);
  expect(listeningToNext.read(0)).toEqual(VOICE);
});

test('RingPool lets the next call hear nothing of the one before, whatever position is asked for', () => {
  const pool = new RingPool();
  const first = pool.claim(LATER_MS);
  for (let frame = 0; frame < 300; frame += 1) first.write(VOICE, frame * 20);
  pool.release(first, 0);
  const next = pool.claim(LATER_MS);

  next.write(new Int16Array(160), 7000);

  expect([...next.read(-100_000)].some((sample) => sample !== 0)).toBe(false);
  expect(next.read(-100_000)).toHaveLength(160);
  expect(next.read(200)).toHaveLength(0);
});

test('RingPool reuses a ring only after its own length, so that the last words of its call can be read', () => {
  const pool = new RingPool();
  const first = pool.claim(0);
  first.write(VOICE, 1000);
  pool.release(first, 1000);

  const tooEarly = pool.claim(1000 + LATER_MS - 1);
  const lastWords = elsewhere(first).read(0);
  const next = pool.claim(1000 + LATER_MS);

  expect(tooEarly.buffer.memory).not.toBe(first.buffer.memory);
  expect(lastWords).toEqual(VOICE);
  expect(next.buffer.memory).toBe(first.buffer.memory);
});

test('RingPool takes a ring back once', () => {
  const pool = new RingPool();
  const ring = pool.claim(LATER_MS);

  pool.release(ring, 0);
  pool.release(ring, 0);

  expect(pool.claim(LATER_MS).buffer.memory).not.toBe(pool.claim(LATER_MS).buffer.memory);
});

test('RingPool keeps no more than 500 rings for later', () => {
  const pool = new RingPool();
  const rings = Array.from({ length: 501 }, () => pool.claim(LATER_MS));
  for (const ring of rings) pool.release(ring, 0);
  const known = new Set(rings.map(({ buffer }) => buffer.memory));

  const again = Array.from({ length: 501 }, () => pool.claim(LATER_MS).buffer.memory);

  expect(again.filter((memory) => known.has(memory))).toHaveLength(500);
});
