import { expect, test } from 'vitest';
import { formatVia, parseVia } from '../../src/sip/message/message.ts';
import { faultOf } from '../../src/sip/message/status.ts';

test.each([
  ['SIP/2.0/UDP host', { transport: 'UDP', host: 'host', port: undefined }],
  ['SIP / 2.0 / tcp   Host : 5060 ; rport', { transport: 'TCP', host: 'host', port: 5060 }],
  ['SIP/2.0/UDP [2001:db8::9:1]:5061;branch=z9', { host: '[2001:db8::9:1]', port: 5061 }],
  [
    'SIP/2.0/UDP h;received=[2001:db8::9:255]',
    { params: new Map([['received', '[2001:db8::9:255]']]) },
  ],
  [
    'SIP/2.0/UDP h;received=2001:db8::9:255',
    { params: new Map([['received', '2001:db8::9:255']]) },
  ],
  [
    'SIP/2.0/UDP h;branch=z9hG4bK-1-2@10.0.0.1-3',
    { params: new Map([['branch', 'z9hG4bK-1-2@10.0.0.1-3']]) },
  ],
  [
    'SIP/2.0/UNKNOWN t.example.com;a="x;y"',
    { transport: 'UNKNOWN', params: new Map([['a', '"x;y"']]) },
  ],
  ['SIP/7.0/UDP h', { version: '7.0' }],
])('parseVia reads %s', (text, expected) => {
  expect(parseVia(text)).toMatchObject(expected);
});

test.each([
  '',
  'SIP/2.0/UDP',
  'SIP/2.0/UDP ',
  'SIP/2.0UDP host',
  'SIP/2/UDP host',
  'HTTP/2.0/UDP host',
  'SIP/2.0/UDPhost',
  'SIP/2.0/UDP host:',
  'SIP/2.0/UDP host:99999',
  'SIP/2.0/UDP host:12x',
  'SIP/2.0/UDP [::1',
  'SIP/2.0/UDP host;;',
  'SIP/2.0/UDP host;branch=',
  'SIP/2.0/UDP host;branch=a;branch=b',
  'SIP/2.0/UDP host, SIP/2.0/UDP other',
  'SIP/2.0/UDP host rest',
])('parseVia refuses %j with 400', (text) => {
  expect(faultOf(() => parseVia(text))?.status).toBe(400);
});

test('formatVia writes what parseVia read', () => {
  const text = 'SIP/2.0/UDP [2001:db8::1]:5060;rport=5062;received=192.0.2.1;branch=z9hG4bKx;x';

  expect(formatVia(parseVia(text))).toBe(text);
});
