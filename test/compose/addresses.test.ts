/** What the server listens on, and what it says when far ends outside are told an address that they cannot reach. */
import { expect, test } from 'vitest';
import {
  mediaHostOf,
  openAddresses,
  sipAddressFor,
  sipHostsOf,
  unreachableFault,
} from '../../src/compose/addresses.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { TrunkRegistry } from '../../src/telephony/trunks/trunk-registry.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const CARRIER = '198.51.100.1';

function open(PUBLIC_ADDRESS?: string) {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const log: Logger = { ...silentLogger, warn: (_, message) => warnings.push(message) };
  const config = readConfig(PUBLIC_ADDRESS === undefined ? {} : { PUBLIC_ADDRESS });
  const parts = { config, trunks: [], onChange: () => undefined, clock, log };
  return { warnings, addressFor: sipAddressFor(openAddresses(parts), { clock, log }) };
}

test.each([
  ['0.0.0.0', ['0.0.0.0'], '0.0.0.0'],
  ['10.0.0.5', ['10.0.0.5'], '10.0.0.5'],
  ['::', ['0.0.0.0', '::'], '0.0.0.0'],
])('SIP_HOST=%s: SIP listens on %j, and RTP on %s', (SIP_HOST, sip, media) => {
  const config = readConfig({ SIP_HOST });

  expect(sipHostsOf(config)).toEqual(sip);
  expect(mediaHostOf(config)).toBe(media);
});

const trunkTo = (proxy: string) =>
  parseTrunks(JSON.stringify([{ name: 'six', proxy, numbers: ['*'] }]));

test.each([
  ['::1', 'audio is IPv4 only'],
  ['2001:db8::5', 'audio is IPv4 only'],
])('SIP_HOST=%s is refused: %s', (SIP_HOST, why) => {
  expect(() => readConfig({ SIP_HOST })).toThrow(why);
});

test.each([
  ['0.0.0.0', 'embedded'],
  ['10.0.0.5', 'embedded'],
])('a trunk to an IPv6 address is refused on SIP_HOST=%s, TELEPHONY=%s', (SIP_HOST, TELEPHONY) => {
  const config = readConfig({ SIP_HOST, TELEPHONY });

  expect(() => new TrunkRegistry(trunkTo('[2001:db8::1]'), unreachableFault(config))).toThrow(
    'Cannot use trunk "six": its proxy is an IPv6 address',
  );
});

test('a trunk of the database to an IPv6 address is left out on an IPv4 address, and the reason said', () => {
  const registry = new TrunkRegistry([], unreachableFault(readConfig({ SIP_HOST: '10.0.0.5' })));
  const settings = { proxy: '[2001:db8::1]', numbers: ['*'] };
  const times = { createdAt: new Date(0), updatedAt: new Date(0) };

  const problems = registry.replaceStored([{ name: 'six', settings, password: null, ...times }]);

  expect(problems).toEqual([
    expect.stringContaining('Cannot use trunk "six": its proxy is an IPv6'),
  ]);
  expect(registry.all).toEqual([]);
});

test.each([
  ['::', 'embedded', '[2001:db8::1]'],
  ['10.0.0.5', 'drachtio', '[2001:db8::1]'],
  ['10.0.0.5', 'embedded', '198.51.100.1'],
])('SIP_HOST=%s, TELEPHONY=%s takes a trunk to %s', (SIP_HOST, TELEPHONY, proxy) => {
  const config = readConfig({ SIP_HOST, TELEPHONY });

  expect(new TrunkRegistry(trunkTo(proxy), unreachableFault(config)).find('six')).toBeDefined();
});

test('a carrier outside that is told a private address is a warning, once', () => {
  const { addressFor, warnings } = open();

  const told = [1, 2].map(() => addressFor('10.0.0.5', CARRIER));

  expect(told).toEqual(['10.0.0.5', '10.0.0.5']);
  expect(warnings).toEqual(['a far end outside is told a private address: set PUBLIC_ADDRESS']);
});

test.each([
  ['a setting for it', '203.0.113.10', '10.0.0.5', CARRIER, '203.0.113.10'],
  ['a far end that is private too', undefined, '10.0.0.5', '10.9.0.1', '10.0.0.5'],
  ['a server with an address of its own', undefined, '203.0.113.77', CARRIER, '203.0.113.77'],
])('%s is no reason to warn', (_, setting, bound, farEnd, expected) => {
  const { addressFor, warnings } = open(setting);

  expect(addressFor(bound, farEnd)).toBe(expected);
  expect(warnings).toEqual([]);
});
