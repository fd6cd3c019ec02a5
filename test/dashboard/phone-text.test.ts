/** Phone numbers as people read them. */
import { expect, test } from 'vitest';
import { phoneText } from '../../src/dashboard/format.ts';

test.each([
  ['+12025550123', '+1 202 555 0123'],
  ['+390612345678', '+39 061 234 5678'],
  ['+353123456789', '+353 123 456 789'],
  ['+49301234567', '+49 301 234 567'],
  ['1001', '1001'],
  ['anonymous', 'anonymous'],
])('phoneText of %s is %s', (number, text) => {
  expect(phoneText(number)).toBe(text);
});
