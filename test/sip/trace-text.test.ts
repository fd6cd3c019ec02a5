/** A shown message contains no credentials and no SRTP keys. */
import { expect, test } from 'vitest';
import { traceText } from '../../src/sip/call-traces.ts';

const lines = (...all: readonly string[]) => Buffer.from([...all, '', ''].join('\r\n'));

test('traceText shows the message as it was', () => {
  const wire = lines('INVITE sip:a@b SIP/2.0', 'Call-ID: 1', 'Subject: grüße');

  expect(traceText({ wire })).toBe(wire.toString());
});

test.each([
  ['Authorization: Digest username="joe", response="secret"', 'Authorization: (removed)'],
  ['proxy-authorization : Digest response="secret"', 'proxy-authorization : (removed)'],
  ['PROXY-AUTHORIZATION:Basic secret', 'PROXY-AUTHORIZATION: (removed)'],
  [
    'Authorization: Digest a="b",\r\n response="secret",\r\n\tnonce="secret"',
    'Authorization: (removed)',
  ],
  ['Contact: <sip:joe:secret@192.0.2.1>', 'Contact: <sip:joe:(removed)@192.0.2.1>'],
  ['From: "A" <sips:joe:sec%20ret@b.c;x=y>;tag=1', 'From: "A" <sips:joe:(removed)@b.c;x=y>;tag=1'],
])('traceText takes the secret out of %s', (line, shown) => {
  const text = traceText({ wire: lines('INVITE sip:a@b SIP/2.0', line, 'CSeq: 1 INVITE') });

  expect(text).toBe(`INVITE sip:a@b SIP/2.0\r\n${shown}\r\nCSeq: 1 INVITE\r\n\r\n`);
});

test('traceText takes the keys of the sound out of SDP', () => {
  const body = [
    'v=0',
    'k=clear:secret',
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:secret|2^20|1:32',
    'a=ice-ufrag:abcd',
    'a=ice-pwd:secret',
    'a=fingerprint:sha-256 AA:BB',
    '',
  ].join('\r\n');
  const wire = Buffer.concat([
    lines('INVITE sip:a@b SIP/2.0', 'CSeq: 1 INVITE'),
    Buffer.from(body),
  ]);

  const text = traceText({ wire });

  expect(text).not.toContain('secret');
  expect(text).toContain('a=crypto:1 AES_CM_128_HMAC_SHA1_80 (removed)\r\n');
  expect(text).toContain('a=fingerprint:sha-256 AA:BB');
});

test.each([
  'Contact: <sip:192.0.2.1:5060;transport=tcp>',
  'Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKone',
  'From: <sip:joe@192.0.2.1:5060>;tag=1',
  'To: <sip:+390612345678@example.com:5061>, <sip:b@example.com>',
  'WWW-Authenticate: Digest realm="a", nonce="b"',
  'X-Authorization: hello',
])('traceText leaves %s', (line) => {
  const wire = lines('INVITE sip:a@b SIP/2.0', line);

  expect(traceText({ wire })).toBe(wire.toString());
});

test('traceText shows octets that are no UTF-8 one by one', () => {
  const wire = Buffer.concat([lines('INVITE sip:a@b SIP/2.0'), Buffer.from([0xe9, 0xff])]);

  expect(traceText({ wire }).slice(-2)).toBe('éÿ');
});

test('traceText of 16 KiB of anything takes no longer than a moment', () => {
  const wire = Buffer.from('sip:'.repeat(4096));
  const before = process.cpuUsage();

  traceText({ wire });
  traceText({ wire: Buffer.from(`a=crypto:${'1'.repeat(16_000)}`) });
  traceText({ wire: Buffer.from(`sip:${'a:'.repeat(8000)}`) });

  expect(process.cpuUsage(before).user / 1000).toBeLessThan(100);
});
