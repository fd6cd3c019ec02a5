import { expect, test } from 'vitest';
import { isLoopback, localUrlHost, urlHost } from '../../src/lib/local-routes.ts';

test.each([
  ['2001:db8::1', '[2001:db8::1]'],
  ['[2001:db8::1]', '[2001:db8::1]'],
  ['192.0.2.1', '192.0.2.1'],
  ['voice.example', 'voice.example'],
])('urlHost writes %s as %s', (host, written) => {
  expect(urlHost(host)).toBe(written);
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '[2001:db8::1]'],
])('localUrlHost reaches a server that listens on %s at %s', (host, written) => {
  expect(localUrlHost(host)).toBe(written);
});

test.each([
  ['127.0.0.1', true],
  ['localhost', true],
  ['[::1]', true],
  ['phones.localhost', true],
  ['LOCALHOST.', true],
  ['0.0.0.0', false],
  ['192.0.2.1', false],
  ['127.example.com', false],
])('isLoopback says of %s: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
