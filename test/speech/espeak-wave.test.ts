/** How the WAV that espeak-ng writes becomes what is heard on the line. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EspeakWave } from '../../src/speech/tts/espeak/sentence-job.ts';

const RATE_HZ = 22_050;

/** A WAV as espeak-ng writes it to a pipe: its sizes are made up. */
function wav(samples: readonly number[], rateHz = RATE_HZ): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(rateHz, 24);
  header.write('data', 36);
  return Buffer.concat([header, Buffer.from(Int16Array.from(samples).buffer)]);
}

function silence(ms: number): number[] {
  return new Array(Math.round((ms * RATE_HZ) / 1000)).fill(0);
}

function tone(ms: number, amplitude: number): number[] {
  return silence(ms).map((_, n) => amplitude * Math.sin((2 * Math.PI * 440 * n) / RATE_HZ));
}

function run(
  bytes: Buffer,
  options: { gainDb?: number; pauseAfterMs?: number; cut?: number } = {},
) {
  const { gainDb = 0, pauseAfterMs = 0, cut = 4096 } = options;
  const wave = new EspeakWave({ gainDb, pauseAfterMs });
  const pcm: number[] = [];
  for (let at = 0; at < bytes.length; at += cut) {
    pcm.push(...wave.push(bytes.subarray(at, at + cut)));
  }
  return [...pcm, ...wave.end()];
}

const peakOf = (pcm: readonly number[]) => Math.max(...pcm.map(Math.abs));

test('EspeakWave cuts silence off before the first sound, all but 8 ms', () => {
  const pcm = run(wav([...silence(400), ...tone(500, 8000)]));

  expect(pcm.length / 8).toBeGreaterThan(500);
  expect(pcm.length / 8).toBeLessThan(512);
});

test('EspeakWave keeps silence between sounds', () => {
  const pcm = run(wav([...tone(300, 8000), ...silence(700), ...tone(300, 8000)]));

  expect(Math.abs(pcm.length / 8 - 1300)).toBeLessThan(5);
});

test.each([0, 60, 160])('EspeakWave leaves %d ms of silence at the end', (pauseAfterMs) => {
  const pcm = run(wav([...tone(500, 8000), ...silence(900)]), { pauseAfterMs });

  expect(Math.abs(pcm.length / 8 - 500 - pauseAfterMs)).toBeLessThan(5);
});

test.each([
  ['louder', 6, 2],
  ['softer', -6, 0.5],
])('EspeakWave makes a voice %s by its gain', (_, gainDb, factor) => {
  const pcm = run(wav(tone(500, 8000)), { gainDb });

  expect(peakOf(pcm) / 8000).toBeCloseTo(factor, 1);
});

test('EspeakWave bends what would be too loud, and never wraps around', () => {
  const plain = run(wav(tone(500, 8000)));

  const loud = run(wav(tone(500, 32_000)), { gainDb: 12 });

  expect(peakOf(loud)).toBeGreaterThan(30_000);
  expect(loud.filter((sample, n) => sample * (plain[n] ?? 0) < 0)).toEqual([]);
});

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['half a header', wav([]).subarray(0, 20)],
  ['a header alone', wav([])],
  ['silence alone', wav(silence(500))],
])('EspeakWave gives no audio for %s', (_, bytes) => {
  expect(run(bytes, { pauseAfterMs: 160 })).toEqual([]);
});

test.each([
  ['a text', Buffer.from(`Error: no voice${' '.repeat(100)}`)],
  ['a rate of 0 Hz', wav(tone(10, 100), 0)],
])('EspeakWave refuses %s in place of a WAV', (_, bytes) => {
  expect(() => run(bytes)).toThrow(RangeError);
});

test('EspeakWave gives the same audio however the bytes are cut', () => {
  const bytes = wav([...silence(20), ...tone(60, 9000), ...silence(30), ...tone(40, 2000)]);
  const whole = run(bytes, { cut: bytes.length, pauseAfterMs: 60 });

  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3000 }), (cut) => {
      expect(run(bytes, { cut, pauseAfterMs: 60 })).toEqual(whole);
    }),
    { numRuns: 25 },
  );
});

test('EspeakWave takes any bytes after a header without failing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
      const pcm = run(Buffer.concat([wav([]), bytes]));
      expect(pcm.length).toBeLessThanOrEqual(bytes.length);
    }),
    { numRuns: 100 },
  );
});
