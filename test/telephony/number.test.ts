import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isDialable,
  numberOfHeader,
  numberOfUri,
  withoutQuotedText,
} from '../../src/telephony/call-headers.ts';

test.each([
  ['sip:+390612345678@carrier.example', '+390612345678'],
  ['sip:+390612345678:secret@carrier.example;user=phone', '+390612345678'],
  ['sip:+390612345678;npdi;rn=+39061@carrier.example', '+390612345678'],
  ['sip:%2B390612345678@carrier.example', '+390612345678'],
  ['SIPS:00390612345678@[2001:db8::1]:5061', '+390612345678'],
  ['tel:+39-06-1234-5678', '+390612345678'],
  ['tel:0612345678;phone-context=+39', '+390612345678'],
  ['sip:0612345678@carrier.example', '0612345678'],
  ['sip:390612345678@carrier.example', '390612345678'],
  ['sip:anonymous@anonymous.invalid', 'anonymous'],
  ['sip:%zz@carrier.example', '%zz'],
  ['sip:carrier.example', ''],
  ['mailto:joe@carrier.example', ''],
  ['', ''],
])('numberOfUri reads %s as %s', (uri, number) => {
  expect(numberOfUri(uri)).toBe(number);
});

test.each([
  ['"Bob" <sip:+390612345678@a.example>;tag=1', '+390612345678'],
  ['"<sip:+1@b.example>" <sip:+390612345678@a.example>', '+390612345678'],
  ['sip:+390612345678@a.example;tag=1', '+390612345678'],
  ['<tel:+390612345678>, <sip:+15551234567@a.example>', '+390612345678'],
  ['Anonymous <sip:anonymous@anonymous.invalid>;tag=1', 'anonymous'],
  ['', ''],
])('numberOfHeader reads %s as %s', (header, number) => {
  expect(numberOfHeader(header)).toBe(number);
});

test('numberOfHeader reads a number behind quoted text that has no end', () => {
  expect(numberOfHeader('"Bob <sip:+390612345678@a.example>')).toBe('+390612345678');
});

test('withoutQuotedText takes as long for quoted text without an end as for any other', () => {
  const msOf = (header: string) => {
    const startedAt = process.cpuUsage();
    const rest = withoutQuotedText(header);
    const { user } = process.cpuUsage(startedAt);
    return { rest, ms: user / 1000 };
  };
  const hostile = `"${'\\"'.repeat(50_000)}`;

  const read = [hostile, `${hostile}\\`].map(msOf);

  expect(read.map(({ rest }) => rest)).toEqual([hostile, `${hostile}\\`]);
  expect(Math.max(...read.map(({ ms }) => ms))).toBeLessThan(1_000);
});

test('numberOfHeader throws on no text', () => {
  const pieces = fc.constantFrom(
    '<',
    '>',
    '"',
    '\\',
    'sip:',
    'tel:',
    '+39',
    '@',
    ';',
    ',',
    '%',
    '0',
  );

  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 20 }), (texts) => {
      expect(typeof numberOfHeader(texts.join(''))).toBe('string');
    }),
  );
});

test.each([
  ['+390612345678', true],
  ['112', true],
  ['*61#', true],
  ['+39 06', false],
  ['joe', false],
  ['1@evil.example', false],
  ['1\r\nX: y', false],
  ['', false],
])('isDialable, asked about %j, says %s', (text, is) => {
  expect(isDialable(text)).toBe(is);
});
