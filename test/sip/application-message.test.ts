/** SIP as drachtio's client writes it, and what of it the engine sends. */
import { expect, test } from 'vitest';
import {
  headerOf,
  parseApplicationMessage,
  partsOf,
  responsePartsOf,
} from '../../src/sip/drachtio-server/application-connection.ts';

const parse = (...lines: readonly string[]) =>
  parseApplicationMessage(Buffer.from(lines.join('\r\n')));

test('parseApplicationMessage reads a request with its body', () => {
  const message = parse('INFO sip:a@b SIP/2.0', 'X-Some: a: b ', 'v: SIP/2.0/UDP c', '', 'bödy');

  expect(message).toEqual({
    ...{ method: 'INFO', uri: 'sip:a@b', status: 0, reason: '' },
    headers: [
      ['x-some', 'a: b'],
      ['via', 'SIP/2.0/UDP c'],
    ],
    body: Buffer.from('bödy'),
  });
});

test.each([
  ['SIP/2.0 486 Busy Here', 486, 'Busy Here'],
  ['SIP/2.0 200', 200, ''],
])('parseApplicationMessage reads the response "%s"', (line, status, reason) => {
  expect(parse(line)).toMatchObject({ method: '', uri: '', status, reason });
});

test('parseApplicationMessage reads a message without an end of its head', () => {
  const message = parse('INFO sip:a@b SIP/2.0', 'Subject: x');

  expect(message.headers).toEqual([['subject', 'x']]);
  expect(message.body).toHaveLength(0);
});

test.each([
  'INFO sip:a@b',
  'INFO sip:a@b HTTP/1.1',
])('parseApplicationMessage refuses "%s"', (line) => {
  expect(() => parse(line)).toThrow('Bad start line');
});

test.each([
  'X-Empty:',
  'X-Missing: undefined',
  ': nameless',
  'no colon',
])('parseApplicationMessage passes over the header "%s"', (line) => {
  expect(parse('INFO sip:a@b SIP/2.0', line, 'a: b').headers).toHaveLength(1);
});

test('headerOf is the first value of a name', () => {
  const message = parse('INFO sip:a@b SIP/2.0', 'X-Some: one', 'X-Some: two');

  expect([headerOf(message, 'x-some'), headerOf(message, 'x-other')]).toEqual(['one', undefined]);
});

test('partsOf leaves out what the engine writes, and keeps several lines of one name', () => {
  const message = parse(
    ...['INFO sip:a@b SIP/2.0', 'Via: x', 'Contact: <sip:c@d>', 'X-Some: one', 'X-Some: two'],
    ...['Content-Type: text/plain', '', 'body'],
  );

  expect(partsOf(message)).toEqual({
    headers: { 'x-some': ['one', 'two'] },
    body: Buffer.from('body'),
    contentType: 'text/plain',
  });
});

test('partsOf of a message without a body has none, nor a type of it', () => {
  expect(partsOf(parse('INFO sip:a@b SIP/2.0'))).toEqual({ headers: {} });
});

test.each([
  [299, {}],
  [300, { contact: ['<sip:c@d>'] }],
  [399, { contact: ['<sip:c@d>'] }],
  [400, {}],
])('partsOf keeps the contacts of a redirection alone: %d', (status, headers) => {
  const message = parse(`SIP/2.0 ${status} Why`, 'Contact: <sip:c@d>', 'Via: x');

  expect(partsOf(message).headers).toEqual(headers);
});

test.each([
  ['SIP/2.0 200 Fine', { headers: {}, reason: 'Fine' }],
  ['SIP/2.0 200', { headers: {} }],
])('responsePartsOf "%s" has the phrase that was chosen', (line, expected) => {
  expect(responsePartsOf(parse(line))).toEqual(expected);
});
