import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientOf } from '../../src/api/http/request-identity.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, 'unknown'],
])('clientOf %s is %s', (address, expected) => {
  expect(clientOf(address)).toBe(expected);
});

test('clientOf gives every address of one /64 the same name', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
      const address = groups.map((group) => group.toString(16)).join(':');

      const network = groups.slice(0, 4).map((group) => group.toString(16));
      expect(clientOf(address)).toBe(`${network.join(':')}::/64`);
    }),
  );
});

test('clientOf makes a name of anything', () => {
  fc.assert(fc.property(fc.string(), (text) => clientOf(text) !== ''));
});
