import { expect, test } from 'vitest';
import { firstLineOf, messageOf } from '../../src/lib/unknown-value.ts';

test.each([
  [new Error('no such file'), 'no such file'],
  ['refused', 'refused'],
  [undefined, 'undefined'],
])('messageOf puts the thrown value %j in words', (thrown, words) => {
  expect(messageOf(thrown)).toBe(words);
});

test('firstLineOf leaves out the stack frames that native libraries add', () => {
  const error = new Error('Load model failed\n  at Session.load\n  at open');

  expect(firstLineOf(error)).toBe('Load model failed');
});
