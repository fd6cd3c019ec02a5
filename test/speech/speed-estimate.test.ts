/** Estimates of recognisers that are not installed. */
import { expect, test } from 'vitest';
import {
  answerMsOf,
  estimateText,
  isEstimable,
} from '../../src/speech/self-test/self-test-report.ts';

const CORE = { matrixPerSecond: 150e9, vectorPerSecond: 15e9 };

const estimate = (answerMs: number) => ({ model: 'Whisper', profiles: [], answerMs });

test('answerMsOf grows with the model, and shrinks with the speed of the core', () => {
  const ids = ['whisper-tiny', 'whisper-base', 'whisper-small', 'whisper-large-v3-turbo'];
  const twice = { matrixPerSecond: 300e9, vectorPerSecond: 30e9 };

  const all = ids.map((id) => answerMsOf(id, CORE));

  expect(all).toEqual(all.toSorted((one, other) => one - other));
  expect(answerMsOf('whisper-base', twice)).toBeCloseTo((all[1] ?? 0) / 2);
});

test('answerMsOf counts the multiply-adds of the published shape', () => {
  const decoderOnly = { matrixPerSecond: Number.POSITIVE_INFINITY, vectorPerSecond: 1e9 };

  // Per token: 6 layers of 14 products of 512 x 512, attention to 150 positions, and 51,866 tokens to choose from.
  const token = 6 * (14 * 512 * 512 + 2 * 150 * 512) + 51_866 * 512;

  expect(answerMsOf('whisper-base', decoderOnly)).toBeCloseTo((1.3 * 13 * token) / 1e6);
});

test('answerMsOf refuses a model whose arithmetic is not known', () => {
  expect(isEstimable('kokoro-82m')).toBe(false);
  expect(() => answerMsOf('kokoro-82m', CORE)).toThrow(RangeError);
});

test.each([
  [36, 'about 80 times faster than speech, estimated'],
  [400, 'about 8 times faster than speech, estimated'],
  [
    700,
    'about 4 times faster than speech, estimated; callers may have to wait more than 700 ms for it',
  ],
  [1500, 'likely too slow for this machine: about 2 times faster than speech, estimated'],
  [6000, 'likely too slow for this machine: slower than speech, estimated'],
])('estimateText says of %d ms as much as its error allows', (answerMs, text) => {
  expect(estimateText(estimate(answerMs), 700)).toBe(text);
});
