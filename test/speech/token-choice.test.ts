/** Which token is taken, how sure that is, and when decoding has gone round in circles. */
import { expect, test } from 'vitest';
import {
  allowedTokens,
  likeliestOf,
  likeliestToken,
  probabilityOf,
} from '../../src/speech/stt/decoding/decoder-run.ts';
import { isRepetitive, isRunaway } from '../../src/speech/stt/decoding/greedy-decoder.ts';

const LOGITS = Float32Array.of(1, 3, 2, 9);

test('likeliestToken looks no further than the last token allowed', () => {
  const choice = likeliestToken(LOGITS, allowedTokens({ lastToken: 2, suppressed: [] }));

  const total = Math.exp(1) + Math.exp(3) + Math.exp(2);
  expect(choice.token).toBe(1);
  expect(choice.logProbability).toBeCloseTo(Math.log(Math.exp(3) / total), 6);
});

test('likeliestToken leaves suppressed tokens out of the choice and of the sum', () => {
  const choice = likeliestToken(LOGITS, allowedTokens({ lastToken: 2, suppressed: [1] }));

  expect(choice.token).toBe(2);
  expect(choice.logProbability).toBeCloseTo(Math.log(Math.exp(2) / (Math.exp(1) + Math.exp(2))), 6);
});

test('probabilityOf counts all tokens', () => {
  expect(probabilityOf(Float32Array.of(0, 0, 0, 0), 2)).toBeCloseTo(0.25, 6);
});

test('likeliestOf compares the candidates alone', () => {
  const languages = new Map([
    ['en', 0],
    ['es', 2],
  ]);

  expect(likeliestOf(LOGITS, languages)).toBe('es');
  expect(likeliestOf(LOGITS, new Map())).toBeUndefined();
});

test.each([
  { tokens: Array(10).fill(5), isCircle: true },
  { tokens: Array(9).fill(5), isCircle: false },
  { tokens: Array(10).fill([1, 2, 3]).flat(), isCircle: true },
  { tokens: [...Array(10).fill([1, 2, 3]).flat(), 9], isCircle: false },
  { tokens: [1, 5, 5, 5, 5, 5, 5, 5, 2], isCircle: false },
])('isRunaway says $isCircle of $tokens', ({ tokens, isCircle }) => {
  expect(isRunaway(tokens.map((id) => ({ id })))).toBe(isCircle);
});

test.each([
  { text: 'My number is five five five one two.', isRepeating: false },
  { text: 'Thank you for watching. '.repeat(12), isRepeating: true },
  { text: '', isRepeating: false },
])('isRepetitive says $isRepeating of "$text"', ({ text, isRepeating }) => {
  expect(isRepetitive(text)).toBe(isRepeating);
});
