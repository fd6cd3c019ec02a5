/** What the server listens on, and what it says when far ends outside are told an address that they cannot reach. */
import { expect, test } from 'vitest';
import {
  mediaHostOf,
  openAddresses,
  sipAddressFor,
  sipHostsOf,
} from '../../src/compose/addresses.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
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
  ['::1', ['::1'], '127.0.0.1'],
  ['2001:db8::5', ['2001:db8::5'], '0.0.0.0'],
])('SIP_HOST=%s: SIP listens on %j, and RTP on %s', (SIP_HOST, sip, media) => {
  const config = readConfig({ SIP_HOST });

  expect(sipHostsOf(config)).toEqual(sip);
  expect(mediaHostOf(config)).toBe(media);
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
