/** Whisper's front end against the definition and against transformers.js. */
import { env, WhisperFeatureExtractor } from '@huggingface/transformers';
import { expect, test } from 'vitest';
import {
  FourierTransform,
  FULL_WINDOW_FRAMES,
  LogMel,
  melFilters,
  WINDOW_SAMPLES,
} from '../../src/speech/stt/features/log-mel.ts';
import { Upsampler } from '../../src/speech/stt/features/resampler.ts';
import { phraseSaying } from './spoken-phrases.ts';

env.allowRemoteModels = false;

const speech = new Upsampler().push(phraseSaying('Transfer me to a person.'));

function melOf(pcm: Float32Array, pieceSamples: number, melCount = 80): LogMel {
  const mel = new LogMel({ melCount });
  for (let start = 0; start < pcm.length; start += pieceSamples) {
    mel.push(pcm.subarray(start, start + pieceSamples));
  }
  return mel;
}

function referenceExtractor(melCount: number): WhisperFeatureExtractor {
  return new WhisperFeatureExtractor({
    feature_size: melCount,
    sampling_rate: 16_000,
    hop_length: 160,
    chunk_length: 30,
    n_fft: 400,
    n_samples: 480_000,
    nb_max_frames: 3000,
  });
}

function largestDifference(first: ArrayLike<number>, second: ArrayLike<number>): number {
  expect(first.length).toBe(second.length);
  return Array.from(first).reduce(
    (largest, value, index) => Math.max(largest, Math.abs(value - (second[index] ?? 0))),
    0,
  );
}

/** The sum of the definition. */
function slowTransform(re: Float64Array, im: Float64Array): { re: number[]; im: number[] } {
  const sums = { re: [] as number[], im: [] as number[] };
  for (let bin = 0; bin < re.length; bin += 1) {
    let [x, y] = [0, 0];
    for (let index = 0; index < re.length; index += 1) {
      const angle = (-2 * Math.PI * bin * index) / re.length;
      x += (re[index] ?? 0) * Math.cos(angle) - (im[index] ?? 0) * Math.sin(angle);
      y += (re[index] ?? 0) * Math.sin(angle) + (im[index] ?? 0) * Math.cos(angle);
    }
    sums.re.push(x);
    sums.im.push(y);
  }
  return sums;
}

test('FourierTransform gives what the definition gives', () => {
  const fourier = new FourierTransform();
  for (let index = 0; index < WINDOW_SAMPLES; index += 1) {
    fourier.re[index] = Math.sin(index * index);
    fourier.im[index] = Math.cos(3 * index * index);
  }
  const expected = slowTransform(fourier.re, fourier.im);

  fourier.run();

  expect(largestDifference(fourier.re, expected.re)).toBeLessThan(1e-9);
  expect(largestDifference(fourier.im, expected.im)).toBeLessThan(1e-9);
});

test.each([80, 128])('melFilters makes the %i filters that transformers.js makes', (melCount) => {
  const reference: number[] = referenceExtractor(melCount).config.mel_filters.flatMap(
    (row: ArrayLike<number>) => Array.from(row),
  );

  const filters = melFilters(melCount).flatMap(({ firstBin, weights }) => {
    const row = Array.from({ length: 201 }, () => 0);
    weights.forEach((weight, index) => {
      row[firstBin + index] = weight;
    });
    return row;
  });

  expect(largestDifference(filters, reference)).toBeLessThan(1e-12);
});

test('LogMel gives the features that transformers.js gives', { timeout: 30_000 }, async () => {
  const extractor = referenceExtractor(80);
  const reference = await extractor._call(speech);

  const features = melOf(speech, 320).features(FULL_WINDOW_FRAMES);

  expect(
    largestDifference(features.values, reference.input_features.data as Float32Array),
  ).toBeLessThan(1e-5);
});

test.each([1, 160, 321, 100_000])('LogMel gives the same in pieces of %i samples', (piece) => {
  const whole = melOf(speech.subarray(0, 8000), 8000).features(60);

  const pieces = melOf(speech.subarray(0, 8000), piece).features(60);

  expect(largestDifference(pieces.values, whole.values)).toBeLessThan(1e-6);
});

test('LogMel goes on where it was after features were taken', () => {
  const mel = melOf(speech.subarray(0, 5001), 5001);
  mel.features(mel.frames);

  mel.push(speech.subarray(5001));

  const expected = melOf(speech, speech.length).features(400);
  expect(largestDifference(mel.features(400).values, expected.values)).toBeLessThan(1e-6);
});

test('LogMel leaves out what comes after 30 s', () => {
  const mel = melOf(new Float32Array(31 * 16_000).fill(0.1), 16_000);

  expect(mel.samples).toBe(30 * 16_000);
  expect(mel.frames).toBe(FULL_WINDOW_FRAMES);
});

test('LogMel makes 128 rows for the models that want them', () => {
  const features = melOf(speech, 3200, 128).features(300);

  expect(features.values.length).toBe(128 * 300);
});
