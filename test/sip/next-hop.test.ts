/** Where a URI leads, with a name service that the test writes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseUri } from '../../src/sip/message/uri.ts';
import { inSrvOrder, type Resolver, resolveTargets } from '../../src/sip/transport/next-hop.ts';

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

const servers = fc.array(
  fc.record({ priority: fc.nat(3), weight: fc.nat(65_535), name: fc.string() }),
  { maxLength: 8 },
);

/** As `Math.random`, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test('inSrvOrder keeps every server once, and lower priorities first', () => {
  fc.assert(
    fc.property(servers, fc.nat(), (given, seed) => {
      const order = inSrvOrder(given, seeded(seed));

      expect(new Set(order)).toEqual(new Set(given));
      expect(order).toHaveLength(given.length);
      const priorities = order.map(({ priority }) => priority);
      expect(priorities).toEqual([...priorities].sort((a, b) => a - b));
    }),
  );
});

test('inSrvOrder draws the first server in proportion to the weights', () => {
  const given = [
    { name: 'none', priority: 1, weight: 0 },
    { name: 'light', priority: 1, weight: 25 },
    { name: 'heavy', priority: 1, weight: 75 },
  ];
  const random = seeded(7);
  const firsts: Record<string, number> = { none: 0, light: 0, heavy: 0 };

  for (let draw = 0; draw < 10_000; draw += 1) {
    const name = inSrvOrder(given, random)[0]?.name ?? '';
    firsts[name] = (firsts[name] ?? 0) + 1;
  }

  expect(firsts.heavy).toBeGreaterThan(7_200);
  expect(firsts.heavy).toBeLessThan(7_700);
  expect(firsts.light).toBeGreaterThan(2_200);
  expect(firsts.none).toBeGreaterThan(30);
  expect(firsts.none).toBeLessThan(200);
});

test.each([
  [0, ['none', 'light', 'heavy']],
  [0.999, ['heavy', 'light', 'none']],
])('inSrvOrder follows RFC 2782 where every draw is %d of the sum', (draw, expected) => {
  const given = [
    { name: 'light', priority: 1, weight: 10 },
    { name: 'heavy', priority: 1, weight: 90 },
    { name: 'none', priority: 1, weight: 0 },
  ];

  expect(inSrvOrder(given, () => draw).map(({ name }) => name)).toEqual(expected);
});
