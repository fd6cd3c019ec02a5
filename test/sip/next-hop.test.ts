/** Where a URI leads, with a name service that the test writes. */
import { expect, test } from 'vitest';
import { parseUri } from '../../src/sip/message/uri.ts';
import { type Resolver, resolveTargets } from '../../src/sip/transport/next-hop.ts';

const NAMES: Resolver = {
  addresses: async (host) => (host.endsWith('.example.com') ? [`192.0.2.${host.length}`] : []),
  services: async (name) =>
    name === '_sip._udp.trunk.example.com'
      ? [
          { name: 'backup.example.com', port: 5080, priority: 20, weight: 0 },
          { name: 'heavy.example.com', port: 5070, priority: 10, weight: 90 },
          { name: 'light.example.com', port: 5060, priority: 10, weight: 10 },
        ]
      : [],
};

const targetsOf = async (uri: string) =>
  (await resolveTargets(parseUri(uri), ['UDP', 'TCP'], NAMES, () => 0.9)).map(
    ({ protocol, address, port }) => `${protocol} ${address} ${port}`,
  );

test.each([
  ['sip:a@192.0.2.1', ['UDP 192.0.2.1 5060']],
  ['sip:a@192.0.2.1:5070;transport=tcp', ['TCP 192.0.2.1 5070']],
  ['sip:a@[2001:db8::1]', ['UDP 2001:db8::1 5060']],
  ['sip:a@host.example.com:5070', ['UDP 192.0.2.16 5070']],
  ['sip:a@host.example.com', ['UDP 192.0.2.16 5060']],
  ['sip:a@host.example.com;maddr=192.0.2.9', ['UDP 192.0.2.9 5060']],
  [
    'sip:a@trunk.example.com',
    ['UDP 192.0.2.17 5070', 'UDP 192.0.2.17 5060', 'UDP 192.0.2.18 5080'],
  ],
  ['sip:a@trunk.example.com;transport=tcp', ['TCP 192.0.2.17 5060']],
])('resolveTargets leads %s to %j', async (uri, expected) => {
  expect(await targetsOf(uri)).toEqual(expected);
});

test.each([
  'sip:a@nowhere.invalid',
  'sips:a@192.0.2.1',
  'tel:+15550100',
  'sip:a@b;transport=tls',
])('resolveTargets finds no way to %s', async (uri) => {
  await expect(targetsOf(uri)).rejects.toThrow('Cannot reach');
});
