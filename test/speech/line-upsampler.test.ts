/** From the line's rate to the models'. */
import { expect, test } from 'vitest';
import { LineUpsampler } from '../../src/speech/line-upsampler.ts';

/** How late the output is, in output samples. */
const DELAY_SAMPLES = 22;

function tone(hz: number, rateHz: number, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) =>
    Math.sin((2 * Math.PI * hz * index) / rateHz),
  );
}

test.each([200, 1000, 3000])('LineUpsampler keeps a tone of %i Hz', (hz) => {
  const line = Int16Array.from(tone(hz, 8000, 800), (value) => Math.round(value * 16_000));

  const output = new LineUpsampler().push(line);

  const expected = tone(hz, 16_000, 1600);
  const errors = Array.from(output.subarray(100), (value, index) =>
    Math.abs(value - ((expected[index + 100 - DELAY_SAMPLES] ?? 0) * 16_000) / 32_768),
  );
  expect(Math.max(...errors)).toBeLessThan(0.005);
});

test('LineUpsampler gives the same whatever the pieces', () => {
  const line = Int16Array.from(tone(440, 8000, 500), (value) => Math.round(value * 9000));
  const whole = new LineUpsampler().push(line);

  const upsampler = new LineUpsampler();
  const pieces = [line.subarray(0, 7), line.subarray(7, 160), line.subarray(160)].flatMap((piece) =>
    Array.from(upsampler.push(piece)),
  );

  expect(pieces).toEqual(Array.from(whole));
});
