import { expect, test } from 'vitest';
import { addressRefusal, checkWebhookUrl } from '../../src/domain/webhook/webhook-url.ts';
import { rangeOfAddress } from '../../src/lib/local-routes.ts';

const CLOSED = { allowLocal: false, allowPrivate: false };
const LOCAL = { allowLocal: true, allowPrivate: false };
const PRIVATE = { allowLocal: false, allowPrivate: true };

test.each([
  ['public', ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8']],
  ['loopback', ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1']],
  ['private', ['10.0.0.1', '172.16.0.1', '192.168.255.1', '100.64.0.1', 'fd12::1', '::ffff:a00:1']],
  ['never', ['0.0.0.0', '::', '169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'fd00:ec2::254']],
  ['never', ['100.100.100.200', '168.63.129.16', '192.0.0.192', '192.0.2.1', '198.18.0.1']],
  ['never', ['198.51.100.1', '203.0.113.1', '224.0.0.1', '255.255.255.255', 'ff02::1', 'fec0::1']],
  [
    'never',
    ['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1', '2001:db8::1', '3fff::1'],
  ],
  [
    'never',
    ['::7f00:1', '::ffff:0:7f00:1', '100::1', '5f00::1', '4000::1', 'receiver.example', ''],
  ],
])('rangeOfAddress is %s for %s', (range, addresses) => {
  const found = addresses.map(rangeOfAddress);

  expect(found).toEqual(addresses.map(() => range));
});

test.each([
  'https://receiver.example/hook?a=b',
  'https://receiver.example:8443',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  `https://receiver.example/${'a'.repeat(2048 - 25)}`,
])('checkWebhookUrl takes %s', (text) => {
  const url = checkWebhookUrl(text, CLOSED);

  expect(url.href).toBe(new URL(text).href);
});

test.each([
  ['', CLOSED],
  ['receiver.example', CLOSED],
  ['/hook', CLOSED],
  ['ftp://receiver.example/', CLOSED],
  ['file:///etc/passwd', LOCAL],
  ['javascript:alert(1)', LOCAL],
  ['http://receiver.example/', CLOSED],
  ['http://receiver.example/', LOCAL],
  ['http://127.0.0.1/', CLOSED],
  ['http://127.0.0.1/', PRIVATE],
  ['http://10.0.0.1/', { allowLocal: true, allowPrivate: true }],
  ['https:receiver.example', CLOSED],
  ['https:/receiver.example/', CLOSED],
  ['https:///receiver.example/', CLOSED],
  ['https:\\\\receiver.example/', CLOSED],
  ['https://user@receiver.example/', CLOSED],
  ['https://:password@receiver.example/', CLOSED],
  ['https://receiver.example:0/', CLOSED],
  ['https://receiver.example:65536/', CLOSED],
  [' https://receiver.example/', CLOSED],
  ['https://receiver.\nexample/', CLOSED],
  [`https://receiver.example/${'a'.repeat(2049 - 25)}`, CLOSED],
])('checkWebhookUrl refuses %j with %o as VALIDATION_ERROR naming the field', (text, rules) => {
  const check = () => checkWebhookUrl(text, rules);

  expect(check).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'url', message: expect.any(String) }],
    }),
  );
});

test.each([
  ['https://127.0.0.1/', CLOSED],
  ['https://localhost/', CLOSED],
  ['https://api.localhost./', CLOSED],
  ['https://10.0.0.1/', CLOSED],
  ['https://10.0.0.1/', LOCAL],
  ['https://169.254.169.254/', PRIVATE],
  ['https://[fd00:ec2::254]/', PRIVATE],
])('checkWebhookUrl refuses %s with %o as UNPROCESSABLE', (text, rules) => {
  const check = () => checkWebhookUrl(text, rules);

  expect(check).toThrow(expect.objectContaining({ code: 'UNPROCESSABLE' }));
});

test.each([
  ['http://127.0.0.1:8080/', LOCAL],
  ['http://localhost:8080/', LOCAL],
  ['http://[::1]:8080/', LOCAL],
  ['https://127.0.0.1/', LOCAL],
  ['https://127.0.0.1/', PRIVATE],
  ['https://192.168.1.10:8443/', PRIVATE],
  ['https://[fd12::1]/', PRIVATE],
])('checkWebhookUrl takes %s with %o', (text, rules) => {
  const check = () => checkWebhookUrl(text, rules);

  expect(check).not.toThrow();
});

test('addressRefusal lets http reach this machine only, whatever else is allowed', () => {
  const rules = { allowLocal: true, allowPrivate: true };

  const refusals = ['127.0.0.1', '10.0.0.1', '8.8.8.8'].map((address) =>
    addressRefusal(address, 'http:', rules),
  );

  const elsewhere = 'http is taken for this machine only, and its host is elsewhere';
  expect(refusals).toEqual([undefined, elsewhere, elsewhere]);
});
