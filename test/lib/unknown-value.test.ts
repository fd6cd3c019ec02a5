import { expect, test } from 'vitest';
import { firstLineOf, hasCode, messageOf } from '../../src/lib/unknown-value.ts';

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

test.each([
  [Object.assign(new Error('missing'), { code: 'ENOENT' }), true],
  [Object.assign(new Error('refused'), { code: 'EPERM' }), false],
  [new Error('ENOENT'), false],
  [{ code: 'ENOENT' }, false],
])('hasCode(%j) of ENOENT and EEXIST is %s', (thrown, expected) => {
  expect(hasCode(thrown, 'ENOENT', 'EEXIST')).toBe(expected);
});
