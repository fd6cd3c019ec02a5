import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { ownAddressCheck } from '../../src/lib/own-addresses.ts';

test('ownAddressCheck knows each address of the interfaces, as IPv4 in IPv6 too, and no other', () => {
  const isOwn = ownAddressCheck(systemClock);
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const own = all.map(({ address }) => address);
  const mapped = all
    .filter(({ family }) => family === 'IPv4')
    .map((each) => `::FFFF:${each.address}`);

  expect(own.length).toBeGreaterThan(0);
  expect([...own, ...mapped].filter((address) => !isOwn(address))).toEqual([]);
  expect(['203.0.113.77', '2001:db8::77', '', 'not an address'].filter(isOwn)).toEqual([]);
});
