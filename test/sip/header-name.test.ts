/** Names of headers: their long form and their wire form. */
import { expect, test } from 'vitest';
import { canonicalName, wireName } from '../../src/sip/message/grammar.ts';

test.each([
  ['v', 'via'],
  ['VIA', 'via'],
  ['X-Correlation-ID', 'x-correlation-id'],
  ['x', 'session-expires'],
  ['\u0156ia', '\u0157ia'],
])('canonicalName knows %s as %s', (name, expected) => {
  expect(canonicalName(name)).toBe(expected);
});

test.each([
  ['x-one-more', 'X-One-More'],
  ['call-id', 'Call-ID'],
])('wireName writes %s as %s', (name, expected) => {
  expect(wireName(name)).toBe(expected);
});
