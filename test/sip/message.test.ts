import { expect, test } from 'vitest';
import { splitList } from '../../src/sip/message/grammar.ts';
import { makeResponse, SipMessage } from '../../src/sip/message/message.ts';
import { faultOf } from '../../src/sip/message/status.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';

function invite(...headers: string[]): SipMessage {
  const lines = [
    'INVITE sip:bob@example.com SIP/2.0',
    'Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK1',
    'Via: SIP/2.0/UDP 192.0.2.2;branch=z9hG4bK2, SIP/2.0/TCP 192.0.2.3;branch=z9hG4bK3',
    'From: "Alice" <sip:alice@example.com>;tag=a',
    'To: <sip:bob@example.com>',
    'Call-ID: c1',
    'CSeq: 7 INVITE',
    ...headers,
  ];
  return parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
}

test('SipMessage gives the parsed headers', () => {
  const message = invite('Contact: <sip:alice@192.0.2.1>;expires=60, <sip:alice@192.0.2.9>');

  expect(message.isRequest).toBe(true);
  expect(message.via).toMatchObject({ host: '192.0.2.1', port: 5060 });
  expect(message.from.displayName).toBe('Alice');
  expect(message.contact?.uri).toBe('sip:alice@192.0.2.1');
  expect(message.cseq).toEqual({ seq: 7, method: 'INVITE' });
  expect([message.callId, message.fromTag, message.toTag]).toEqual(['c1', 'a', '']);
});

test('SipMessage lists values over all lines of a name', () => {
  const message = invite('Supported: timer, 100rel', 'k: Replaces');

  expect(message.list('via')).toHaveLength(3);
  expect(message.all('via')).toHaveLength(2);
  expect(message.list('supported')).toEqual(['timer', '100rel', 'Replaces']);
  expect(message.hasToken('supported', 'replaces')).toBe(true);
  expect(message.hasToken('supported', 'rel')).toBe(false);
});

test('SipMessage has no contact where Contact is missing or a star', () => {
  expect(invite().contact).toBeUndefined();
  expect(invite('Contact: *').contact).toBeUndefined();
});

test('SipMessage changes headers in place', () => {
  const message = new SipMessage()
    .add('route', '<sip:b>')
    .add('subject', 'x')
    .add('route', '<sip:c>')
    .prepend('via', 'v');

  message.set('route', '<sip:a>').set('expires', 60).delete('subject');

  expect(message.headers).toEqual([
    ['via', 'v'],
    ['route', '<sip:a>'],
    ['expires', '60'],
  ]);
});

test('SipMessage.clone leaves the original alone', () => {
  const message = invite();

  const copy = message.clone().set('to', '<sip:carol@example.com>').add('x', '1');

  expect(message.get('to')).toBe('<sip:bob@example.com>');
  expect(message.get('x')).toBeUndefined();
  expect(copy.headers.length).toBe(message.headers.length + 1);
});

test('SipMessage.toBuffer writes long names and counts the octets of the body', () => {
  const message = invite('x: 90', 'l: 0').set('content-length', 5);
  message.body = Buffer.from('Grüß Gott');

  const text = message.toBuffer().toString();

  expect(text).toContain('\r\nCall-ID: c1\r\nCSeq: 7 INVITE\r\nSession-Expires: 90\r\n');
  expect(text).toContain('\r\nContent-Length: 11\r\n\r\nGrüß Gott');
  expect(text.match(/Content-Length/g)).toHaveLength(1);
});

test.each([
  ['a line break', (message: SipMessage) => message.set('subject', 'x\r\nRoute: <sip:evil>')],
  ['a bare LF', (message: SipMessage) => message.set('subject', 'x\nRoute: <sip:evil>')],
  ['a line break in a name', (message: SipMessage) => message.add('a: b\r\nroute', '<sip:evil>')],
  ['text that is not octets', (message: SipMessage) => message.set('subject', 'Žofie')],
])('SipMessage.toBuffer refuses %s', (_what, change) => {
  const message = change(new SipMessage());

  expect(() => message.toBuffer()).toThrow(TypeError);
});

test('SipMessage.toBuffer refuses a line break in the start line', () => {
  const message = invite();
  message.uri = 'sip:a@b\r\nX: y';

  expect(() => message.toBuffer()).toThrow(TypeError);
});

test('SipMessage getters throw SipError 400 where the header is missing', () => {
  const message = new SipMessage();

  for (const read of [
    () => message.via,
    () => message.from,
    () => message.to,
    () => message.cseq,
  ]) {
    expect(faultOf(read)?.status).toBe(400);
  }
  expect(message.callId).toBe('');
});

test.each([
  ['', []],
  ['  ', []],
  ['a', ['a']],
  ['a, b ,c', ['a', 'b', 'c']],
  ['a,,b', ['a', '', 'b']],
  ['"x, y" <sip:a>, <sip:b,c>;d="e,f"', ['"x, y" <sip:a>', '<sip:b,c>;d="e,f"']],
  ['"a\\", b" , c', ['"a\\", b"', 'c']],
  ['"open, b', ['"open, b']],
])('splitList splits %j', (text, parts) => {
  expect(splitList(text)).toEqual(parts);
});

test('makeResponse copies what a response must have, byte for byte', () => {
  const request = invite('Record-Route: <sip:proxy;lr>', 'Timestamp: 54', 'Subject: no');

  const trying = makeResponse(request, 100, undefined, 'tag');
  const ringing = makeResponse(request, 180, undefined, 'tag');
  const busy = makeResponse(request, 486, 'On the phone', 'tag');

  expect(trying.all('via')).toEqual(request.all('via'));
  expect(trying.get('to')).toBe('<sip:bob@example.com>');
  expect(trying.get('timestamp')).toBe('54');
  expect(ringing.get('to')).toBe('<sip:bob@example.com>;tag=tag');
  expect(ringing.get('record-route')).toBe('<sip:proxy;lr>');
  expect(ringing.reason).toBe('Ringing');
  expect(busy.get('record-route')).toBeUndefined();
  expect(busy.get('subject')).toBeUndefined();
  expect(busy.reason).toBe('On the phone');
});

test('makeResponse leaves a tag that is there, and a To that cannot be read', () => {
  const tagged = invite().set('to', '<sip:bob@example.com>;tag=theirs');
  const broken = invite().set('to', '"unbalanced <sip:bob@example.com>');

  expect(makeResponse(tagged, 200, undefined, 'ours').get('to')).toBe(tagged.get('to'));
  expect(makeResponse(broken, 400, undefined, 'ours').get('to')).toBe(broken.get('to'));
});
