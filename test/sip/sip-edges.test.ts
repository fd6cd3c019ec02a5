/** Where the engine's readers draw the line: the values at which a message, a name or a stream is read otherwise. */
import { expect, test } from 'vitest';
import { canonicalName, lineStart, wireName } from '../../src/sip/message/grammar.ts';
import { parseNameAddr, parseUri, uriScheme } from '../../src/sip/message/uri.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import { PendingOctets } from '../../src/sip/parser/stream-framer.ts';
import { request } from './messages.ts';

const text = (bytes: Buffer | undefined) => bytes?.toString();

test('PendingOctets finds an end of head that comes in pieces', () => {
  const pending = new PendingOctets();
  const heads: (string | undefined)[] = [];

  for (const octet of 'a\r\n\r\nbc\r\n\r\n') {
    pending.append(Buffer.from(octet));
    heads.push(text(pending.takeHead()));
  }

  expect(heads.filter((head) => head !== undefined)).toEqual(['a', 'bc']);
  expect(pending.length).toBe(0);
});

test('PendingOctets keeps what has not been read when it needs more room', () => {
  const pending = new PendingOctets();
  pending.append(Buffer.from('head\r\n\r\n'));
  pending.append(Buffer.alloc(4000, 'x'));
  const head = text(pending.takeHead());

  pending.append(Buffer.alloc(200, 'y'));
  pending.append(Buffer.alloc(5000, 'z'));

  expect(head).toBe('head');
  expect(pending.length).toBe(9200);
  expect(text(pending.take(9200))).toBe(`${'x'.repeat(4000)}${'y'.repeat(200)}${'z'.repeat(5000)}`);
});

test('PendingOctets finds the end of a head around which it made room', () => {
  const pending = new PendingOctets();
  pending.append(Buffer.from(`${'a'.repeat(3000)}\r\n\r\n`));
  pending.takeHead();
  pending.append(Buffer.from(`${'b'.repeat(1000)}\r\n`));
  const early = pending.takeHead();

  pending.append(Buffer.from(`\r\n${'c'.repeat(500)}`));

  expect(early).toBeUndefined();
  expect(text(pending.takeHead())).toBe('b'.repeat(1000));
  expect(pending.length).toBe(500);
});

test.each([
  ['', false, 0],
  ['\r', false, 1],
  ['\r\n', true, 0],
  ['\rx', false, 2],
  ['x\n', false, 2],
  ['\r\nx', true, 1],
])('PendingOctets takes a line break from %j: %s', (octets, isTaken, left) => {
  const pending = new PendingOctets();
  pending.append(Buffer.from(octets));

  expect([pending.takeLineBreak(), pending.length]).toEqual([isTaken, left]);
});

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

test('names of headers are read and written alike however many were invented before', () => {
  for (let index = 0; index < 1100; index++) {
    canonicalName(`X-Invented-${index}`);
    lineStart(`x-invented-${index}`);
  }

  expect(canonicalName('X-One-More')).toBe('x-one-more');
  expect([canonicalName('v'), canonicalName('X-Invented-1')]).toEqual(['via', 'x-invented-1']);
  expect([wireName('x-one-more'), wireName('call-id')]).toEqual(['X-One-More', 'Call-ID']);
  expect(lineStart('x-one-more')).toBe('\r\nX-One-More: ');
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
