import { expect, test } from 'vitest';
import { urlHost } from '../../src/lib/local-routes.ts';

test.each([
  ['2001:db8::1', '[2001:db8::1]'],
  ['[2001:db8::1]', '[2001:db8::1]'],
  ['192.0.2.1', '192.0.2.1'],
  ['voice.example', 'voice.example'],
])('urlHost writes %s as %s', (host, written) => {
  expect(urlHost(host)).toBe(written);
});
