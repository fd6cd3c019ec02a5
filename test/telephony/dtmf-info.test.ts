import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digitOf, isDtmf } from '../../src/telephony/drachtio/leg/dtmf-methods.ts';

test.each([
  ['Signal=5\r\nDuration=160\r\n', '5'],
  ['signal = #\nduration = 100', '#'],
  ['Signal=10\r\nDuration=160', '*'],
  ['Signal=d', 'D'],
  ['7', '7'],
  ['11', '#'],
  [' * \r\n', '*'],
  ['Signal=\r\n', undefined],
  ['55', undefined],
  ['', undefined],
])('digitOf reads %j as %s', (body, digit) => {
  expect(digitOf(body)).toBe(digit);
});

test('digitOf finds nothing but digits in any text', () => {
  fc.assert(
    fc.property(fc.string(), (body) => {
      expect(digitOf(body) ?? '0').toMatch(/^[0-9*#A-D]$/);
    }),
  );
});

test.each([
  ['application/dtmf-relay', true],
  ['Application/DTMF; charset=utf-8', true],
  ['application/sdp', false],
  ['', false],
])('isDtmf, asked about %s, says %s', (type, is) => {
  expect(isDtmf(type)).toBe(is);
});
