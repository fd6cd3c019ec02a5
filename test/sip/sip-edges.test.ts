/** Where the engine's readers draw the line: the values at which a message, a name or a stream is read otherwise. */
import { expect, test } from 'vitest';
import { parseNameAddr, parseUri, uriScheme } from '../../src/sip/message/uri.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import { request } from './messages.ts';

test.each([
  ['a:b', 'a'],
  ['Z39:x', 'z39'],
])('uriScheme of "%s" is "%s"', (uri, scheme) => {
  expect(uriScheme(uri)).toBe(scheme);
});

test.each([
  ':b',
  '1a:b',
  '{a:b',
  '`a:b',
  'a b:c',
  'a:b c',
  'none',
  'tel:',
])('uriScheme refuses "%s"', (uri) => {
  expect(() => uriScheme(uri)).toThrow('Bad URI');
});

test('parseUri reads parameters and headers in their order', () => {
  const uri = parseUri('sip:a@b:1;c=d?e=f');

  expect(uri).toMatchObject({ port: 1, headers: 'e=f' });
  expect(uri.params).toEqual(new Map([['c', 'd']]));
});

test.each([
  ['parameters before the bracket', 'sip:a@b;x="<y>"', 'sip:a@b'],
  ['a name of letters beyond ASCII', '\x80 <sip:a@b>', 'sip:a@b'],
  ['a name without a blank', 'a<sip:a@b>', 'sip:a@b'],
])('parseNameAddr reads %s', (_, value, uri) => {
  expect(parseNameAddr(value).uri).toBe(uri);
});

test.each([
  '"a" sip:a@b',
  '"a"',
  '"a',
  '\x7f <sip:a@b>',
  '"a" x<sip:a@b>',
])('parseNameAddr refuses %j', (value) => {
  expect(() => parseNameAddr(value)).toThrow('Bad');
});

/** A message of this many header lines, `extra` among them. */
function withHeaders(...extra: readonly string[]): Buffer {
  const whole = request('OPTIONS').toBuffer().toString();
  return Buffer.from(whole.replace('\r\n\r\n', `\r\n${extra.join('\r\n')}\r\n\r\n`), 'latin1');
}

test.each([
  ['a space before the colon', 'Subject \t: x', 'x'],
  ['spaces around the value', 'Subject: \t x \t', 'x'],
  ['no value', 'Subject:', ''],
  ['a value of one character', 'Subject:x', 'x'],
  ['a folded value', 'Subject: x\r\n  y', 'x y'],
])('parseMessage reads a header with %s', (_, line, expected) => {
  expect(parseMessage(withHeaders(line)).get('subject')).toBe(expected);
});

test.each([
  ['no colon', 'Subject'],
  ['no name', ': x'],
  ['a colon of the line after', 'Subject\r\nX: y'],
  ['a bare line break', 'Subject: x\ny'],
])('parseMessage refuses a header with %s', (_, line) => {
  expect(() => parseMessage(withHeaders(line))).toThrow();
});

test('SipMessage.set puts the new value where the first one was, and drops the others', () => {
  const message = request('OPTIONS', { Subject: 'one' });
  message.add('subject', 'two');
  message.add('organization', 'us');

  message.set('subject', 'three');
  message.set('via', 'first');
  message.set('x-new', 'last');

  expect(message.all('subject')).toEqual(['three']);
  expect(message.headers[0]).toEqual(['via', 'first']);
  expect(message.headers.at(-1)).toEqual(['x-new', 'last']);
  expect(message.get('organization')).toBe('us');
});
