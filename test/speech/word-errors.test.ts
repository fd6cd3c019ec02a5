/** How the benchmarks count wrong words. */
import { expect, test } from 'vitest';
import { wordErrors } from '../../src/speech/self-test/self-test.ts';

test.each([
  { said: 'Yes, please.', heard: 'yes please', errors: 0, words: 2 },
  { said: 'My name is Alice Smith.', heard: 'My name was Alice Smith.', errors: 1, words: 5 },
  { said: 'Goodbye.', heard: '', errors: 1, words: 1 },
  { said: 'No, thank you.', heard: 'Oh no, thank you.', errors: 1, words: 3 },
  { said: 'five five five one', heard: 'five five one', errors: 1, words: 4 },
  { said: "I don't understand.", heard: "I don't understand.", errors: 0, words: 3 },
])('wordErrors counts $errors of $words in "$heard"', ({ said, heard, errors, words }) => {
  expect(wordErrors(said, heard)).toEqual({ errors, words });
});
