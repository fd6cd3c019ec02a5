import { expect, test } from 'vitest';
import { isProxyNetwork, trustedProxies } from '../../src/domain/trusted-proxies.ts';

test.each([
  '127.0.0.1',
  '10.0.0.0/8',
  '10.1.2.3/32',
  '::1',
  'fd00::/8',
  '2001:db8::1/128',
])('isProxyNetwork takes %s', (text) => {
  expect(isProxyNetwork(text)).toBe(true);
});

test.each([
  '',
  'localhost',
  '10.0.0',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  'fd00::/129',
  'fe80::1%eth0',
  '0.0.0.0/0',
  '::/0',
])('isProxyNetwork refuses "%s"', (text) => {
  expect(isProxyNetwork(text)).toBe(false);
});

test.each([
  ['127.0.0.1', true],
  ['127.0.0.2', false],
  ['10.255.0.1', true],
  ['::ffff:10.0.0.1', true],
  ['fd00::17', true],
  ['2001:db8::1', false],
  ['unknown', false],
  ['fd00::17%eth0', false],
])('trustedProxies says of %s: %s', (address, isTrusted) => {
  const isTrustedProxy = trustedProxies(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);

  expect(isTrustedProxy(address)).toBe(isTrusted);
});

test('trustedProxies of an empty list trusts no address', () => {
  expect(trustedProxies([])('127.0.0.1')).toBe(false);
});
