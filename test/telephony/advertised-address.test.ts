/** Which address of ours a far end is told. */
import { expect, test } from 'vitest';
import {
  advertisedAddressFor,
  isAdvertisable,
  listOf,
} from '../../src/telephony/trunks/advertised-address.ts';

const PUBLIC = '203.0.113.10';
const TRUNKS = '198.51.100.20';
const LOCAL = undefined;

/** A machine in a cloud that also has a public network on a second interface. */
const ownNetworks = listOf(['10.0.0.5/24', '192.0.2.17/28']);

test.each([
  ['this machine', '127.0.0.1', LOCAL],
  ['a telephone in our network', '10.0.0.77', LOCAL],
  ['a telephone in the same network, of a socket for both families', '::ffff:10.0.0.77', LOCAL],
  ['a neighbour in a public network of ours', '192.0.2.18', LOCAL],
  ['link-local', '169.254.3.4', LOCAL],
  ['another private network', '10.0.1.1', LOCAL],
  ['RFC 1918, class B', '172.31.255.1', LOCAL],
  ['RFC 1918, class C', '192.168.1.1', LOCAL],
  ['shared address space, RFC 6598', '100.64.0.1', LOCAL],
  ['an IPv6 far end', '2001:db8::9', LOCAL],
  ['a carrier', '198.51.100.1', PUBLIC],
  ['a host outside our public network', '192.0.2.1', PUBLIC],
  ['a far end that is not known', '', PUBLIC],
])('advertisedAddressFor, without an address of the trunk, for %s', (_, farEnd, expected) => {
  const choice = { farEnd, ownNetworks, trunkAddress: undefined, publicAddress: PUBLIC };

  expect(advertisedAddressFor(choice)).toBe(expected);
});

test.each([
  ['this machine', '127.0.0.1', LOCAL],
  ['a network of ours', '10.0.0.77', LOCAL],
  ['a carrier behind a private line', '10.200.0.1', TRUNKS],
  ['a carrier', '198.51.100.1', TRUNKS],
  ['a far end that is not known', '', TRUNKS],
])('advertisedAddressFor, with an address of the trunk, for %s', (_, farEnd, expected) => {
  const choice = { farEnd, ownNetworks, trunkAddress: TRUNKS, publicAddress: PUBLIC };

  expect(advertisedAddressFor(choice)).toBe(expected);
});

test('advertisedAddressFor keeps to the local address where nothing is set', () => {
  const nothing = { trunkAddress: undefined, publicAddress: undefined };

  expect(advertisedAddressFor({ farEnd: '198.51.100.1', ownNetworks, ...nothing })).toBe(LOCAL);
});

test.each([
  ['203.0.113.10', true],
  ['10.0.0.1', true],
  ['voice.example.com', true],
  ['pbx', true],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['2001:db8::1', false],
  ['203.0.113', false],
  ['203.0.113.10:5060', false],
  ['-voice.example', false],
  ['voice..example', false],
  ['voice example', false],
  ['', false],
])('isAdvertisable, of %j: %s', (text, expected) => {
  expect(isAdvertisable(text)).toBe(expected);
});
