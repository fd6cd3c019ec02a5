import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPhoneNumber, parsePhoneNumber } from '../../src/domain/dialing/phone-number.ts';
import { ServiceError } from '../../src/domain/service-error.ts';

test.each([
  '+390612345678',
  '+15550100001',
  '+442079460000',
  '+4915112345678',
  '+390669812345',
])('parsePhoneNumber takes %s', (text) => {
  expect(parsePhoneNumber(text, 'to')).toBe(text);
});

test.each([
  ['no plus', '390612345678'],
  ['a leading zero', '+0390612345678'],
  ['too few digits', '+39061'],
  ['too many digits', '+3906123456781234'],
  ['a length that the United States do not have', '+1555010000'],
  ['a length that Italy does not have', '+39061'],
  ['a calling code that does not exist', '+9991234567'],
  ['spaces', '+39 06 12345678'],
  ['a tel URI', 'tel:+390612345678'],
  ['Arabic-Indic digits', '+٣٩٠٦١٢٣٤٥٦٧٨'],
  ['a line break', '+390612345678\r\nX: y'],
  ['a line break at the end', '+390612345678\n'],
  ['nothing', ''],
])('parsePhoneNumber refuses %s', (_case, text) => {
  expect(() => parsePhoneNumber(text, 'to')).toThrow(
    expect.objectContaining({ code: 'UNPROCESSABLE' }),
  );
});

test('isPhoneNumber never throws, and takes only E.164', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+?[\d ]{0,18}$/)), (text) => {
      if (isPhoneNumber(text)) expect(text).toMatch(/^\+[1-9]\d{6,14}$/);
    }),
  );
});

test('parsePhoneNumber repeats no more than the beginning of what it refuses', () => {
  const refuse = () => parsePhoneNumber('9'.repeat(100_000), 'to');

  expect(refuse).toThrow(ServiceError);
  expect(refuse).toThrow(/^.{0,200}$/);
});
