import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultOf } from '../../src/sip/message/status.ts';
import { parseNameAddr } from '../../src/sip/message/uri.ts';

/** Text as messages hold it. */
function wire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

test.each([
  ['<sip:a@b>', { displayName: '', uri: 'sip:a@b' }],
  ['sip:a@b;tag=1', { displayName: '', uri: 'sip:a@b', params: new Map([['tag', '1']]) }],
  ['<sip:a@b;lr>;Tag = 1', { uri: 'sip:a@b;lr', params: new Map([['tag', '1']]) }],
  ['Alice  Jones <sip:a@b>', { displayName: 'Alice  Jones' }],
  ['caller<sip:a@b>;tag=323', { displayName: 'caller' }],
  ['"A. \\"Notifier\\", \\\\ Alexander"<sip:a@b>', { displayName: 'A. "Notifier", \\ Alexander' }],
  ['"<sip:fake@host>" <sip:a@b>', { displayName: '<sip:fake@host>', uri: 'sip:a@b' }],
  [wire('"Žofie Dvořáková" <sip:a@b>'), { displayName: 'Žofie Dvořáková' }],
  [wire('Žofie <sip:a@b>'), { displayName: 'Žofie' }],
  [
    '<sip:a@b>;x="q;uoted>";y',
    {
      params: new Map([
        ['x', '"q;uoted>"'],
        ['y', null],
      ]),
    },
  ],
  ['<name:John_Smith>', { uri: 'name:John_Smith' }],
  ['isbn:2983792873', { uri: 'isbn:2983792873' }],
])('parseNameAddr reads %s', (text, expected) => {
  expect(parseNameAddr(text)).toMatchObject(expected);
});

test.each([
  '',
  '<>',
  '<sip:a@b',
  'sip:a@b>',
  '< sip:a@b >',
  'Notifier, Alexander <sip:a@b>',
  '"unbalanced <sip:a@b>',
  '"quoted" sip:a@b',
  'sip:a@b?Route=x',
  'sip:a@b, sip:c@d',
  '<sip:a@b>;',
  '<sip:a@b>;;',
  '<sip:a@b>;tag=',
  '<sip:a@b>;tag=1;tag=2',
  '<sip:a@b> rest',
  'no-uri',
])('parseNameAddr refuses %j with 400', (text) => {
  expect(faultOf(() => parseNameAddr(text))?.status).toBe(400);
});

test('parseNameAddr throws nothing but SipError', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('"', '\\', '<', '>', ';', '=', 'a', ':', ' ', ',') }),
      (text) => {
        faultOf(() => parseNameAddr(text));
      },
    ),
    { numRuns: 1_000 },
  );
});
