import { expect, test } from 'vitest';
import { isSameSecret } from '../../src/lib/same-secret.ts';

test.each([
  ['cymru', 'cymru', true],
  ['', '', true],
  ['cymrx', 'cymru', false],
  ['cymr', 'cymru', false],
  ['', 'cymru', false],
  ['cymrů', 'cymrů', true],
])('isSameSecret of "%s" and "%s" is %s', (given, expected, isSame) => {
  expect(isSameSecret(given, expected)).toBe(isSame);
});
