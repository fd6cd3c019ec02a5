import { expect, test } from 'vitest';
import { BadMessageError } from '../../src/sip/message/message.ts';
import { faultOf } from '../../src/sip/message/status.ts';
import { HEADER_BYTES_MAX, HEADER_LINES_MAX, parseMessage } from '../../src/sip/parser/parser.ts';
import { checkRequest } from '../../src/sip/parser/request-check.ts';
import { StreamFramer } from '../../src/sip/parser/stream-framer.ts';
import { cpuMs, fastestCpuMs } from '../support/time/cpu-time.ts';

const REQUEST = {
  line: 'OPTIONS sip:bob@example.com SIP/2.0',
  via: 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
  from: '<sip:alice@example.com>;tag=a',
  to: '<sip:bob@example.com>',
  'call-id': 'c1',
  cseq: '1 OPTIONS',
};

/** The request with other parts; an empty one is left out. */
function request(parts: Partial<Record<string, string>> = {}, rest = ''): Buffer {
  const { line, ...headers } = { ...REQUEST, ...parts };
  const lines = Object.entries(headers).filter(([, value]) => value !== '');
  const text = [line, ...lines.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return Buffer.from(`${text}\r\n\r\n${rest}`, 'latin1');
}

/** The status with which the parser refuses; undefined where it does not. */
function refusal(octets: Buffer, options?: { stream: boolean }): number | undefined {
  return faultOf(() => parseMessage(octets, options))?.status;
}

test.each([
  ['lower case in the version', { line: 'OPTIONS sip:bob@example.com sip/2.0' }],
  ['an IPv6 Via', { via: 'SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3' }],
  ['an IPv6 address', { line: 'OPTIONS sip:[2001:db8::10]:5070 SIP/2.0' }],
  ['a tel address', { line: 'OPTIONS tel:+390612345 SIP/2.0' }],
  ['no tag in From', { from: '<sip:alice@example.com>' }],
  ['an empty header', { subject: '' }],
  ['a space before the colon', { 'x ': 'y' }],
  ['the greatest CSeq', { cseq: '2147483647 OPTIONS' }],
  ['quoted text with control octets', { to: '"\\\x07\\\0" <sip:bob@example.com>' }],
])('parseMessage takes %s', (_what, parts) => {
  expect(refusal(request(parts))).toBeUndefined();
});

test.each([
  ['no Call-ID', { 'call-id': '' }, 400],
  ['no From', { from: '' }, 400],
  ['no CSeq', { cseq: '' }, 400],
  ['no Via', { via: '' }, 0],
  ['a Via that cannot be read', { via: 'SIP/2.0/UDP' }, 0],
  ['an empty Via above a good one', { via: `\r\nVia: ${REQUEST.via}` }, 0],
  ['an empty Via below a good one', { via: `${REQUEST.via}\r\nVia:` }, 400],
  ['a bad Via below the top', { via: `${REQUEST.via}, SIP/2.0/UDP` }, 400],
  ['a CSeq too great', { cseq: '2147483648 OPTIONS' }, 400],
  ['a CSeq without number', { cseq: 'OPTIONS' }, 400],
  ['Max-Forwards too great', { 'max-forwards': '256' }, 400],
  ['Max-Forwards that is no number', { 'max-forwards': '-1' }, 400],
  ['a tag without value', { from: '<sip:alice@example.com>;tag' }, 400],
  ['a bad Contact', { contact: '<sip:a@b' }, 400],
  ['a bad Route', { route: '<sip:a@b>, x' }, 400],
  ['a bare LF in a value', { subject: 'a\nb' }, 400],
  ['a bare CR in a value', { subject: 'a\rb' }, 400],
  ['a name that is no token', { 'a(b)': 'c' }, 400],
  ['two Call-IDs', { i: 'c2' }, 400],
  ['another version', { line: 'OPTIONS sip:bob@example.com SIP/3.0' }, 505],
  ['no version', { line: 'OPTIONS sip:bob@example.com' }, 400],
  ['HTTP', { line: 'GET / HTTP/1.1' }, 400],
  ['no method', { line: ' sip:bob@example.com SIP/2.0' }, 0],
  ['a broken ACK', { line: 'ACK sip:bob@example.com SIP/2.0', cseq: 'x' }, 0],
  ['a broken response', { line: 'SIP/2.0 200 OK', cseq: 'x' }, 0],
  ['a status below 100', { line: 'SIP/2.0 099 Nearly' }, 0],
  ['a status above 699', { line: 'SIP/2.0 700 Beyond' }, 0],
])('parseMessage refuses %s with %3$s', (_what, parts, status) => {
  expect(refusal(request(parts))).toBe(status);
});

test.each([
  ['no end of the headers', Buffer.from('OPTIONS sip:a@b SIP/2.0\r\nVia: x')],
  ['nothing', Buffer.alloc(0)],
  ['line breaks alone', Buffer.from('\r\n\r\n\r\n\r\n')],
  ['NUL octets', Buffer.alloc(1_000)],
  ['too many octets', request({}, 'x'.repeat(70_000))],
])('parseMessage drops %s', (_what, octets) => {
  expect(refusal(octets)).toBe(0);
});

test('parseMessage bounds the number and the length of headers', () => {
  const many = Object.fromEntries(
    Array.from({ length: HEADER_LINES_MAX }, (_, i) => [`x-${i}`, 'y']),
  );

  expect(refusal(request(many))).toBe(400);
  expect(refusal(request({ subject: 'x'.repeat(HEADER_BYTES_MAX - 20) }))).toBeUndefined();
  expect(refusal(request({ subject: 'x'.repeat(HEADER_BYTES_MAX) }))).toBe(400);
  expect(refusal(request({ subject: 'x\r\n '.repeat(HEADER_BYTES_MAX / 4) }))).toBe(400);
});

test('parseMessage takes as long for each octet of a long header as of a short one', () => {
  const attacks = ['"', '\\"', '<', ';a', ',', ' ', '\r\n ', ';a="b"', '%41', ':'];

  for (const attack of attacks) {
    const value = attack.repeat(Math.floor((HEADER_BYTES_MAX - 100) / attack.length));
    for (const name of ['via', 'from', 'contact', 'cseq', 'subject', 'route']) {
      const octets = request({ [name]: value });

      const tookMs = fastestCpuMs(() => faultOf(() => parseMessage(octets)));

      // A quadratic reader needs some 300 ms for 16 kB; this one less than half of one.
      expect(tookMs, `${attack} in ${name}`).toBeLessThan(20);
    }
  }
});

test('parseMessage cuts the body to its length, and gives all of a datagram without one', () => {
  const cut = parseMessage(request({ 'content-length': '3' }, 'abcdef'));
  const whole = parseMessage(request({}, 'abcdef'));

  expect(cut.body.toString()).toBe('abc');
  expect(whole.body.toString()).toBe('abcdef');
});

test.each([
  '-1',
  'five',
  '7',
  '1e1',
  '+3',
  '0x3',
  '99999999999999999999',
  '3 3',
  '',
])('parseMessage refuses the Content-Length %j of a body of six octets', (length) => {
  const octets = request({ 'x-last': `\r\nContent-Length: ${length}` }, 'abcdef');

  expect(refusal(octets)).toBe(400);
});

test('parseMessage wants a Content-Length in a stream', () => {
  expect(refusal(request(), { stream: true })).toBe(400);
  expect(refusal(request({ l: '0' }), { stream: true })).toBeUndefined();
});

test('BadMessageError has the lines that could be read', () => {
  let caught: unknown;
  try {
    parseMessage(request({ cseq: 'broken', subject: 'kept' }));
  } catch (error) {
    caught = error;
  }

  expect(caught).toBeInstanceOf(BadMessageError);
  const { sipMessage } = caught as BadMessageError;
  expect(sipMessage?.method).toBe('OPTIONS');
  expect(sipMessage?.get('subject')).toBe('kept');
});

test('StreamFramer gives pipelined messages and pings in order', () => {
  const framer = new StreamFramer();
  const message = request({ l: '2' }, 'hi');

  const frames = framer.push(Buffer.concat([message, Buffer.from('\r\n\r\n'), message]));

  expect(frames.map(({ kind }) => kind)).toEqual(['message', 'ping', 'message']);
  expect(framer.isWaiting).toBe(false);
});

test('StreamFramer goes on after a message that is bad but framed', () => {
  const frames = new StreamFramer().push(
    Buffer.concat([request({ l: '2', cseq: 'x' }, 'hi'), request({ l: '0' })]),
  );

  expect(frames).toMatchObject([{ kind: 'bad', error: { status: 400 } }, { kind: 'message' }]);
});

test('StreamFramer does not take a pong for a ping', () => {
  const framer = new StreamFramer();

  expect(framer.push(Buffer.from('\r\n'))).toEqual([]);
  expect(framer.push(request({ l: '0' }))).toMatchObject([{ kind: 'message' }]);
  expect(framer.push(Buffer.from('\r\n'))).toEqual([]);
});

test.each([
  ['no Content-Length', request(), 400],
  ['a body too long', request({ l: '70000' }), 400],
  ['no SIP', Buffer.from('\x16\x03\x01 TLS\r\n\r\n'), 0],
  ['headers without end', Buffer.from(`${REQUEST.line}\r\nX: ${'y'.repeat(70_000)}`), 0],
])('StreamFramer breaks off at %s', (_what, octets, status) => {
  const framer = new StreamFramer();

  expect(framer.push(octets)).toMatchObject([{ kind: 'broken', error: { status } }]);
  expect(framer.push(request({ l: '0' }))).toEqual([]);
});

test('StreamFramer reads single octets as cheaply as whole messages', () => {
  const framer = new StreamFramer();
  const octets = request({ subject: 'x'.repeat(15_000), l: '45000' }, 'y'.repeat(45_000));
  const singles = [...octets].map((octet) => Buffer.from([octet]));

  const frames = singles.flatMap((single) => framer.push(single));
  const tookMs = fastestCpuMs(() => {
    const again = new StreamFramer();
    for (const single of singles) again.push(single);
  });

  expect(frames).toMatchObject([{ kind: 'message' }]);
  expect(tookMs).toBeLessThan(copyingMs(singles) / 5);
});

/** What a framer would take that copied all that came before with each octet. */
function copyingMs(singles: readonly Buffer[]): number {
  const startedAtMs = cpuMs();
  let kept = Buffer.alloc(0);
  for (const single of singles) kept = Buffer.concat([kept, single]);
  return cpuMs() - startedAtMs;
}

test.each([
  ['REGISTER', {}, 405],
  ['HELLO', {}, 501],
  ['OPTIONS', { line: 'OPTIONS urn:service:sos SIP/2.0' }, 416],
  ['OPTIONS', { require: 'timer, 100rel' }, undefined],
  ['OPTIONS', { require: 'replaces' }, 420],
  ['INVITE', { contact: '<sip:a@b>', c: 'application/sdp', require: 'replaces' }, undefined],
  ['INVITE', { contact: '<sip:a@b>', c: 'application/sdp', require: 'replaces, join' }, 420],
  ['CANCEL', { require: 'replaces' }, undefined],
  ['ACK', { require: 'replaces' }, undefined],
  ['INVITE', {}, 400],
  ['INVITE', { contact: '*' }, 400],
  ['INVITE', { contact: '<sip:a@b>', c: 'application/sdp' }, undefined],
  [
    'INVITE',
    { contact: '<sip:a@b>', c: 'application/sdp', accept: 'text/plain, application/*;q=0.5' },
    undefined,
  ],
  ['INVITE', { contact: '<sip:a@b>', c: 'application/sdp', accept: 'text/plain' }, 406],
  ['UPDATE', { c: 'application/isup' }, 415],
  ['UPDATE', { c: 'Application/SDP ; charset=x' }, undefined],
  [
    'UPDATE',
    { c: 'application/isup', 'content-disposition': 'signal;handling=optional' },
    undefined,
  ],
  ['INFO', { c: 'application/dtmf-relay' }, undefined],
  ['INFO', { 'content-encoding': 'gzip' }, 415],
])('checkRequest settles %s with %j: %s', (method, parts, status) => {
  const line = `${method} sip:bob@example.com SIP/2.0`;
  const message = parseMessage(request({ line, cseq: `1 ${method}`, ...parts }, 'body'));

  expect(checkRequest(message)?.status).toBe(status);
});
