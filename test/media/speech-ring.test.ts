import { expect, test } from 'vitest';
import { SPEECH_RING_SAMPLES, SpeechRing } from '../../src/media/sound-rings.ts';

/** Takes so many samples out, as one stretch. */
function readAll(ring: SpeechRing, length: number): number[] {
  const stretches: Int16Array[] = [];
  ring.read(length, (pcm) => stretches.push(pcm.slice()));
  return stretches.flatMap((pcm) => [...pcm]);
}

test('SpeechRing gives the written samples in order to every reader of the same memory', () => {
  const writer = new SpeechRing();
  const reader = new SpeechRing(writer.buffer);
  writer.write(Int16Array.of(1, 2, 3));
  writer.write(Int16Array.of(-4));

  const first = readAll(reader, 3);
  const second = readAll(reader, 1);

  expect([first, second]).toEqual([[1, 2, 3], [-4]]);
});

test('SpeechRing keeps a copy', () => {
  const ring = new SpeechRing();
  const pcm = Int16Array.of(1, 2, 3);
  ring.write(pcm);

  pcm.fill(0);

  expect(readAll(ring, 3)).toEqual([1, 2, 3]);
});

test('SpeechRing goes on at its beginning when its end is reached', () => {
  const ring = new SpeechRing();
  ring.write(new Int16Array(SPEECH_RING_SAMPLES - 2));
  ring.read(SPEECH_RING_SAMPLES - 2, () => undefined);

  ring.write(Int16Array.of(1, 2, 3, 4));

  expect(readAll(ring, 4)).toEqual([1, 2, 3, 4]);
});

test('SpeechRing refuses what it has no room for, whole, until something was read', () => {
  const ring = new SpeechRing();
  ring.write(new Int16Array(SPEECH_RING_SAMPLES - 2).fill(7));

  const whileFull = ring.write(Int16Array.of(1, 2, 3));
  ring.read(1, () => undefined);
  const afterwards = ring.write(Int16Array.of(1, 2, 3));

  expect([whileFull, afterwards]).toEqual([false, true]);
  expect(readAll(ring, SPEECH_RING_SAMPLES).slice(-4)).toEqual([7, 1, 2, 3]);
});
