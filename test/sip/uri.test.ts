import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultOf } from '../../src/sip/message/status.ts';
import { formatUri, parseUri } from '../../src/sip/message/uri.ts';

test.each([
  ['sip:example.com', { user: undefined, host: 'example.com', port: undefined }],
  ['sip:alice@example.com:5070', { user: 'alice', host: 'example.com', port: 5070 }],
  ['SIPS:alice:secret@EXAMPLE.com', { scheme: 'sips', password: 'secret', host: 'example.com' }],
  ['sip:+39-06(1)@gw;user=phone', { user: '+39-06(1)', params: new Map([['user', 'phone']]) }],
  ['sip:a@[2001:db8::1]:5060;lr', { host: '[2001:db8::1]', params: new Map([['lr', null]]) }],
  ['sip:user;par=u%40x@example.com', { user: 'user;par=u%40x', params: new Map() }],
  ['sip:*31#0612@example.com', { user: '*31#0612' }],
  ['sip:a@b;x=1;x=2', { params: new Map([['x', '1']]) }],
  ['sip:a@b?subject=x&Replaces=1%3Bto-tag%3D2', { headers: 'subject=x&Replaces=1%3Bto-tag%3D2' }],
  ['sip:a:@b', { user: 'a', password: '' }],
  ['tel:+39-06.123(4);phone-context=+39', { scheme: 'tel', user: '+39061234', host: '' }],
])('parseUri reads %s', (text, expected) => {
  expect(parseUri(text)).toMatchObject(expected);
});

test.each([
  'sip:',
  'sip:@host',
  'sip:a@',
  'sip:a@b@c',
  'sip:a b@host',
  'sip:a@host:',
  'sip:a@host:0',
  'sip:a@host:65536',
  'sip:a@host:5060x',
  'sip:a@[::1',
  'sip:a@[nonsense]',
  'sip:a@host;',
  'sip:a@host;=b',
  'sip:a@host;a=',
  'sip:a%4@host',
  'sip:a%zz@host',
  'sip:<a>@host',
  'sip:a"b@host',
  'sip:a@ho/st',
  'sip:a@host?',
  'tel:',
  'tel:abc-xyz',
  ':a',
  'sip',
  '',
])('parseUri refuses %j with 400', (text) => {
  expect(faultOf(() => parseUri(text))?.status).toBe(400);
});

test.each([
  'http://example.com',
  'nobodyKnowsThisScheme:x',
  'soap.beep://192.0.2.103:3002',
])('parseUri refuses %s with 416', (text) => {
  expect(faultOf(() => parseUri(text))?.status).toBe(416);
});

test.each([
  'sip:example.com',
  'sips:alice:secret@example.com:5071;transport=tcp;lr?a=b',
  'sip:a@[2001:db8::1]:5060',
  'tel:+390612345;phone-context=+39',
])('formatUri writes %s back', (text) => {
  expect(formatUri(parseUri(text))).toBe(text);
});

test('parseUri throws nothing but SipError, and what it takes reads back the same', () => {
  const pieces = fc.constantFrom(
    'sip:',
    'a',
    '@',
    ':',
    '[',
    ']',
    '::1',
    ';',
    '=',
    '?',
    '%41',
    '5060',
    '&',
    ' ',
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary-ascii' }),
    fc.array(pieces, { maxLength: 12 }).map((parts) => `sip:${parts.join('')}`),
  );

  fc.assert(
    fc.property(texts, (text) => {
      const fault = faultOf(() => parseUri(text));
      if (fault !== undefined) return;
      const uri = parseUri(text);
      if (!isDeepStrictEqual(parseUri(formatUri(uri)), uri)) throw new Error(formatUri(uri));
    }),
    { numRuns: 1_000 },
  );
});
