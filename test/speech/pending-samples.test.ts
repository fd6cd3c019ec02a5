import { expect, test } from 'vitest';
import { PendingSamples } from '../../src/speech/vad/vad-track.ts';

const samples = (from: number, count: number) =>
  Int16Array.from({ length: count }, (_, index) => from + index);

test('PendingSamples gives windows in the order of what was pushed, and null for a part of one', () => {
  const pending = new PendingSamples();

  pending.push(samples(0, 160));
  const tooSoon = pending.take(256);
  pending.push(samples(160, 160));

  expect(tooSoon).toBeNull();
  expect(pending.take(256)).toEqual(samples(0, 256));
  expect(pending.take(256)).toBeNull();
});

test('PendingSamples loses nothing over hours of packets in the same memory', () => {
  const pending = new PendingSamples();
  let taken = 0;

  for (let packet = 0; packet < 1000; packet += 1) {
    pending.push(new Int16Array(160).fill(packet));
    for (let window = pending.take(256); window !== null; window = pending.take(256)) {
      expect(window[0]).toBe(Math.floor(taken / 160));
      expect(window[255]).toBe(Math.floor((taken + 255) / 160));
      taken += 256;
    }
  }

  expect(taken).toBe(160_000);
});

test('PendingSamples holds a piece that is longer than its memory', () => {
  const pending = new PendingSamples();

  pending.push(samples(0, 100));
  pending.push(samples(100, 5000));

  expect(pending.take(5100)).toEqual(samples(0, 5100));
});

test('PendingSamples forgets what waits when it is cleared', () => {
  const pending = new PendingSamples();
  pending.push(samples(0, 300));

  pending.clear();
  pending.push(samples(1000, 256));

  expect(pending.take(256)).toEqual(samples(1000, 256));
});
