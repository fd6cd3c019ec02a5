/** How exactly sounds repeat. */
import { expect, test } from 'vitest';
import { halveRate, pitchClarity } from '../../src/speech/vad/pitch-clarity.ts';
import {
  bandNoise,
  harmonics,
  mix,
  randomFrom,
  type SoundMaker,
} from '../support/speech/sound-shapes.ts';

/** 64 ms of a sound at 4 kHz. */
function samplesOf(maker: SoundMaker): Int16Array {
  const sound = maker(randomFrom(1));
  const line = Int16Array.from({ length: 512 }, (_, at) => Math.round(8000 * sound(at / 8000)));
  const samples = new Int16Array(256);
  halveRate(line, samples, 0);
  return samples;
}

test.each([
  { what: 'a deep voice', sound: harmonics(0.3, 80, 1, 8), least: 0.95, most: 1.01 },
  { what: 'a high voice', sound: harmonics(0.3, 300, 1, 5), least: 0.95, most: 1.01 },
  { what: 'noise', sound: bandNoise(0.3, 900, 900), least: 0, most: 0.4 },
  {
    what: 'three voices at once',
    sound: mix(harmonics(0.3, 97, 1, 8), harmonics(0.3, 151, 1, 8), harmonics(0.3, 223, 1, 8)),
    least: 0,
    most: 0.8,
  },
])('pitchClarity of $what is from $least to $most', ({ sound, least, most }) => {
  const clarity = pitchClarity(samplesOf(sound));

  expect(clarity).toBeGreaterThanOrEqual(least);
  expect(clarity).toBeLessThan(most);
});

test('pitchClarity of silence is 0', () => {
  expect(pitchClarity(new Int16Array(256))).toBe(0);
});
