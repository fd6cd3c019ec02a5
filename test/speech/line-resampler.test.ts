/** What the resampler lets through, and what it keeps out. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Resampler } from '../../src/speech/stt/features/resampler.ts';

const SPEECH_RATE_HZ = 22_050;

function tone(frequencyHz: number, rateHz: number, seconds = 1): Int16Array {
  return Int16Array.from(
    { length: rateHz * seconds },
    (_, n) => 16_000 * Math.sin((2 * Math.PI * frequencyHz * n) / rateHz),
  );
}

function resample(samples: Int16Array, rateHz = SPEECH_RATE_HZ, pieceSamples = 1000): number[] {
  const resampler = new Resampler(rateHz);
  const output: number[] = [];
  for (let at = 0; at < samples.length; at += pieceSamples) {
    output.push(...resampler.push(samples.subarray(at, at + pieceSamples)));
  }
  return [...output, ...resampler.flush()];
}

/** Level of the middle part, in dB relative to the tone that went in. */
function levelDb(samples: readonly number[]): number {
  const middle = samples.slice(500, -500);
  const power = middle.reduce((sum, sample) => sum + sample ** 2, 0) / middle.length;
  return 10 * Math.log10(power / (16_000 ** 2 / 2));
}

test.each([
  100, 300, 1000, 2000, 3000, 3400,
])('Resampler lets a tone of %d Hz through', (frequencyHz) => {
  expect(Math.abs(levelDb(resample(tone(frequencyHz, SPEECH_RATE_HZ))))).toBeLessThan(0.2);
});

test.each([
  4000, 4100, 4600, 6000, 7900, 10_000,
])('Resampler keeps a tone of %d Hz from folding back', (frequencyHz) => {
  expect(levelDb(resample(tone(frequencyHz, SPEECH_RATE_HZ)))).toBeLessThan(-60);
});

test.each([
  8000, 16_000, 22_050, 24_000, 44_100, 48_000,
])('Resampler keeps the pitch and the length of speech at %d Hz', (rateHz) => {
  const output = resample(tone(1000, rateHz), rateHz);

  const expected = tone(1000, 8000);
  const worst = Math.max(
    ...output.slice(200, 7800).map((s, n) => Math.abs(s - (expected[n + 200] ?? 0))),
  );
  expect(Math.abs(output.length - 8000)).toBeLessThanOrEqual(1);
  expect(worst).toBeLessThan(80);
});

test('Resampler gives the same samples however the input is cut', () => {
  const samples = tone(700, SPEECH_RATE_HZ).subarray(0, 4000);
  const whole = resample(samples, SPEECH_RATE_HZ, 4000);

  fc.assert(
    fc.property(fc.integer({ min: 1, max: 900 }), (pieceSamples) => {
      expect(resample(samples, SPEECH_RATE_HZ, pieceSamples)).toEqual(whole);
    }),
    { numRuns: 30 },
  );
});

test.each([0, 7999, 96_001, 22_050.5, Number.NaN])('Resampler refuses %d Hz', (rateHz) => {
  expect(() => new Resampler(rateHz)).toThrow(RangeError);
});
