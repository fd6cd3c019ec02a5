import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Resampler, resample } from '../../src/media/resampler.ts';

const AMPLITUDE = 16_000;

function tone(hz: number, rateHz: number, samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, index) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * hz * index) / rateHz)),
  );
}

function power(pcm: ArrayLike<number>, edge: number): number {
  let sum = 0;
  for (let index = edge; index < pcm.length - edge; index += 1) sum += (pcm[index] ?? 0) ** 2;
  return sum / (pcm.length - 2 * edge);
}

/** Signal over everything else, in dB, without the first and last 50 ms. */
function signalToNoiseDb(pcm: Int16Array, hz: number, rateHz: number): number {
  const ideal = Float64Array.from(
    pcm,
    (_, index) => AMPLITUDE * Math.sin((2 * Math.PI * hz * index) / rateHz),
  );
  const error = ideal.map((sample, index) => sample - (pcm[index] ?? 0));
  return 10 * Math.log10(power(ideal, rateHz / 20) / power(error, rateHz / 20));
}

test.each([
  [16_000, 8000],
  [22_050, 8000],
  [24_000, 8000],
  [44_100, 8000],
  [48_000, 8000],
  [8000, 16_000],
])('resample from %i to %i Hz keeps speech with 90 dB and its length', (fromRateHz, toRateHz) => {
  for (const hz of [300, 1000, 3400]) {
    const pcm = resample(tone(hz, fromRateHz, fromRateHz / 2), { fromRateHz, toRateHz });

    expect(pcm).toHaveLength(toRateHz / 2);
    expect(signalToNoiseDb(pcm, hz, toRateHz)).toBeGreaterThan(90);
  }
});

test.each([
  [16_000, 4200],
  [24_000, 7000],
  [48_000, 20_000],
])('resample from %i Hz lets nothing of %i Hz through', (fromRateHz, hz) => {
  const pcm = resample(tone(hz, fromRateHz, fromRateHz / 2), { fromRateHz, toRateHz: 8000 });

  expect(power(pcm, 400)).toBeLessThan(AMPLITUDE ** 2 / 2 / 1e9);
});

test('Resampler gives the same samples whatever the chunks are', () => {
  const rates = { fromRateHz: 22_050, toRateHz: 8000 };
  const pcm = tone(700, 22_050, 3000);
  const whole = [...resample(pcm, rates)];

  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 12 }), (lengths) => {
      const resampler = new Resampler(rates);
      const out: number[] = [];
      let at = 0;
      for (const length of lengths) {
        out.push(...resampler.push(pcm.subarray(at, at + length)));
        at += length;
      }
      out.push(...resampler.push(pcm.subarray(at)), ...resampler.flush());

      return out.length === whole.length && out.every((sample, index) => sample === whole[index]);
    }),
    { numRuns: 30 },
  );
});

test('Resampler clips rather than wraps', () => {
  const loud = Int16Array.from({ length: 800 }, (_, index) => (index % 20 < 10 ? 32_767 : -32_768));

  const pcm = resample(loud, { fromRateHz: 16_000, toRateHz: 8000 });

  const middle = pcm.subarray(100, 300);
  expect(Math.max(...middle)).toBe(32_767);
  expect(Math.min(...middle)).toBe(-32_768);
  // A wrapped sample would lie far from both its neighbours.
  const leaps = middle.filter(
    (sample, index) => Math.abs(sample - (middle[index - 1] ?? sample)) > 65_000,
  );
  expect(leaps).toHaveLength(0);
});

test.each([
  [8000.5, 8000],
  [0, 8000],
  [8000, 7919],
])('Resampler refuses the rates %d and %d', (fromRateHz, toRateHz) => {
  expect(() => new Resampler({ fromRateHz, toRateHz })).toThrow(RangeError);
});
