import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { peakReader } from '../../src/call/live-calls.ts';
import { readWavPeaks, wavHeader } from '../../src/media/recording/wav-file.ts';
import { testFolder } from '../support/store/test-store.ts';

const SHAPE = { channels: 2, rateHz: 8000 };

/** @param dataBytes what the header says of the samples; the truth unless given. */
function wavOf(pcm: Int16Array, dataBytes = pcm.byteLength): Buffer {
  return Buffer.concat([wavHeader(SHAPE, dataBytes), Buffer.from(pcm.buffer)]);
}

/** By the definition: a frame belongs to the stretch that its share of the length falls into. */
function naivePeaks(pcm: Int16Array, channel: number, points: number): number[] {
  const frames = pcm.length / 2;
  const peaks = Array.from({ length: Math.min(points, frames) }, () => 0);
  for (let frame = 0; frame < frames; frame += 1) {
    const point = Math.floor((frame * peaks.length) / frames);
    const size = Math.abs(pcm[frame * 2 + channel] ?? 0);
    peaks[point] = Math.max(peaks[point] ?? 0, size);
  }
  return peaks.map((peak) => Math.round((peak * 100) / 32_768) / 100);
}

/** Noise, by a seed. */
function noise(frames: number, seed: number): Int16Array {
  let state = seed + 1;
  return Int16Array.from({ length: frames * 2 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state % 65_536) - 32_768;
  });
}

test('readWavPeaks finds what a naive reader finds, for any length and any number of points', async () => {
  const file = join(testFolder(), 'a.wav');
  const lengths = fc.oneof(fc.nat(600), fc.integer({ min: 16_000, max: 50_000 }));

  await fc.assert(
    fc.asyncProperty(
      lengths,
      fc.integer({ min: 1, max: 5000 }),
      fc.nat(1000),
      async (frames, points, seed) => {
        const pcm = noise(frames, seed);
        writeFileSync(file, wavOf(pcm));

        const peaks = await readWavPeaks(file, points);

        expect(peaks).toEqual({
          durationMs: Math.round(frames / 8),
          left: naivePeaks(pcm, 0, points),
          right: naivePeaks(pcm, 1, points),
        });
      },
    ),
    { numRuns: 60, seed: 6 },
  );
});

test('readWavPeaks keeps the sides apart, and gives the loudest there is as 1', async () => {
  const file = join(testFolder(), 'a.wav');
  writeFileSync(file, wavOf(Int16Array.of(-32_768, 100, 0, 16_384, 0, -8192, 0, 0)));

  const peaks = await readWavPeaks(file, 2);

  expect(peaks).toEqual({ durationMs: 1, left: [1, 0], right: [0.5, 0.25] });
});

test.each([
  ['a header that says less than there is, as while the call goes on', 4 * 100, 100],
  ['a header that says more than there is, as after a crash', 4 * 9000, 800],
])('readWavPeaks reads what is there of %s', async (_case, dataBytes, frames) => {
  const file = join(testFolder(), 'a.wav');
  const pcm = noise(800, 1);
  writeFileSync(file, wavOf(pcm, dataBytes));

  const peaks = await readWavPeaks(file, 10);

  expect(peaks?.durationMs).toBe(Math.round(frames / 8));
  expect(peaks?.left).toEqual(naivePeaks(pcm.subarray(0, frames * 2), 0, 10));
});

test.each([
  ['is empty', Buffer.alloc(0)],
  ['is something else', Buffer.from('RIFF and then nothing that anybody would call a recording')],
  ['has one channel', wavHeader({ channels: 1, rateHz: 8000 }, 0)],
])('readWavPeaks gives nothing of a file that %s', async (_case, bytes) => {
  const file = join(testFolder(), 'a.wav');
  writeFileSync(file, bytes);

  expect(await readWavPeaks(file, 10)).toBeUndefined();
});

test('readWavPeaks stops when its signal aborts', async () => {
  const file = join(testFolder(), 'a.wav');
  writeFileSync(file, wavOf(noise(50_000, 1)));

  const peaks = await readWavPeaks(file, 10, AbortSignal.abort());

  expect(peaks?.left).toEqual(Array.from({ length: 10 }, () => 0));
});

test('peakReader reads two recordings at a time, and others when one is done', async () => {
  const file = join(testFolder(), 'a.wav');
  writeFileSync(file, wavOf(noise(50_000, 1)));
  const read = peakReader();
  const { signal } = new AbortController();

  const answers = await Promise.all([1, 2, 3].map((points) => read(file, points, signal)));
  const later = await read(file, 3, signal);

  expect(answers.map((answer) => answer === 'busy')).toEqual([false, false, true]);
  expect(later).toMatchObject({ durationMs: 6250 });
});

test('peakReader reads on after one that could not be read', async () => {
  const read = peakReader();
  const { signal } = new AbortController();
  const missing = join(testFolder(), 'none.wav');

  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(read(missing, 3, signal)).rejects.toThrow('ENOENT');
  }
});
