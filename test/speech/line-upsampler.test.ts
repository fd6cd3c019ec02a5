/** From the line's rate to the models'. */
import { expect, test } from 'vitest';
import { Upsampler } from '../../src/speech/stt/features/resampler.ts';

/** How late the output is, in output samples. */
const DELAY_SAMPLES = 22;

function tone(hz: number, rateHz: number, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) =>
    Math.sin((2 * Math.PI * hz * index) / rateHz),
  );
}

test.each([200, 1000, 3000])('Upsampler keeps a tone of %i Hz', (hz) => {
  const line = Int16Array.from(tone(hz, 8000, 800), (value) => Math.round(value * 16_000));

  const output = new Upsampler().push(line);

  const expected = tone(hz, 16_000, 1600);
  const errors = Array.from(output.subarray(100), (value, index) =>
    Math.abs(value - ((expected[index + 100 - DELAY_SAMPLES] ?? 0) * 16_000) / 32_768),
  );
  expect(Math.max(...errors)).toBeLessThan(0.005);
});

test('Upsampler gives the same whatever the pieces', () => {
  const line = Int16Array.from(tone(440, 8000, 500), (value) => Math.round(value * 9000));
  const whole = new Upsampler().push(line);

  const upsampler = new Upsampler();
  const pieces = [line.subarray(0, 7), line.subarray(7, 160), line.subarray(160)].flatMap((piece) =>
    Array.from(upsampler.push(piece)),
  );

  expect(pieces).toEqual(Array.from(whole));
});
