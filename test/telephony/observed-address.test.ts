/** Our address as carriers and a STUN server see it: which one is used, and the report of a change. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import {
  OurAddresses,
  type OurAddressesOptions,
} from '../../src/telephony/trunks/our-addresses.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { trunkTo } from './plane.ts';

const CARRIER = '198.51.100.1';
const OTHER = '198.51.100.2';
const [FIRST, SECOND, THIRD] = ['203.0.113.1', '203.0.113.2', '203.0.113.3'] as const;

function open(parts: Partial<OurAddressesOptions> = {}) {
  const clock = new FakeClock();
  const changes: number[] = [];
  const warnings: string[] = [];
  const addresses = new OurAddresses({
    publicAddress: 'auto',
    trunks: [],
    locateProxy: async () => [],
    lookUp: async () => {
      throw new Error('auto is no name');
    },
    onChange: () => changes.push(clock.nowMs()),
    clock,
    log: { ...silentLogger, warn: (_, message) => warnings.push(message) },
    ...parts,
  });
  return { clock, changes, warnings, addresses };
}

test('OurAddresses with auto tells each carrier the address that it sees, and others the newest one', async () => {
  const { addresses } = open();
  await addresses.start();
  const before = [addresses.advertisedTo(CARRIER), addresses.check()?.isOk];

  addresses.seen(CARRIER, FIRST);
  addresses.seen(OTHER, SECOND);
  addresses.seen(CARRIER, FIRST);

  expect(before).toEqual([undefined, false]);
  expect([CARRIER, OTHER, '198.51.100.9'].map((farEnd) => addresses.advertisedTo(farEnd))).toEqual([
    FIRST,
    SECOND,
    SECOND,
  ]);
  expect(addresses.check()).toEqual({
    name: 'public address',
    isOk: true,
    state: `${SECOND}, as a carrier sees it`,
  });
});

test('OurAddresses follows what a carrier sees, and reports a change twice a minute at most', async () => {
  const { addresses, changes, clock } = open();
  await addresses.start();
  const told: (string | undefined)[] = [];

  for (const address of [FIRST, SECOND, THIRD, FIRST, SECOND, THIRD]) {
    addresses.seen(CARRIER, address);
    told.push(addresses.advertisedTo(CARRIER));
    clock.advance(10_000);
  }

  expect(told).toEqual([FIRST, SECOND, THIRD, FIRST, SECOND, THIRD]);
  expect(changes).toEqual([1_000, 31_000]);
});

test('OurAddresses reports nothing while two carriers go on to see two addresses', async () => {
  const { addresses, changes, clock } = open();
  await addresses.start();

  for (let round = 0; round < 20; round += 1) {
    addresses.seen(CARRIER, FIRST);
    addresses.seen(OTHER, SECOND);
    clock.advance(60_000);
  }

  expect(changes).toEqual([1_000]);
});

test.each([
  'unknown',
  '',
  '0.0.0.0',
  '255.255.255.255',
  '2001:db8::1',
])('OurAddresses takes "%s" for no address', async (text) => {
  const { addresses } = open();
  await addresses.start();

  addresses.seen(CARRIER, text);

  expect([addresses.advertisedTo(CARRIER), addresses.check()?.isOk]).toEqual([undefined, false]);
});

test('OurAddresses tells a private address that a carrier sees to no other', async () => {
  const trunk = trunkTo('10.200.0.1', { advertisedAddress: 'auto' });
  const { addresses } = open({ trunks: [trunk] });
  await addresses.start();

  addresses.seen('10.200.0.1', '10.100.0.7');

  expect(addresses.advertisedTo('10.200.0.1', trunk)).toBe('10.100.0.7');
  expect(addresses.advertisedTo(CARRIER)).toBeUndefined();
});

test('OurAddresses with auto has the address before the first registration where a STUN server tells it', async () => {
  const { addresses } = open({ askStun: async () => FIRST });

  await addresses.start();
  const first = addresses.advertisedTo(CARRIER);
  addresses.seen(CARRIER, SECOND);

  expect([first, addresses.advertisedTo(CARRIER), addresses.advertisedTo(OTHER)]).toEqual([
    FIRST,
    SECOND,
    FIRST,
  ]);
  expect(addresses.check()?.state).toBe(`${FIRST}, as the STUN server sees it`);
});

test('OurAddresses reports nothing when a carrier sees what the STUN server has told', async () => {
  const { addresses, changes, clock } = open({ askStun: async () => FIRST });
  await addresses.start();

  addresses.seen(CARRIER, FIRST);
  await clock.pass(20_000);
  addresses.seen(CARRIER, SECOND);
  await clock.pass(5_000);

  expect(changes).toEqual([21_000]);
});

test('OurAddresses asks the STUN server every half minute, and keeps its answer while there is none', async () => {
  const answers = [FIRST, undefined, undefined, SECOND];
  const { addresses, clock, changes, warnings } = open({
    askStun: async () => {
      const answer = answers.shift();
      if (answer === undefined) throw new Error('no answer');
      return answer;
    },
  });
  await addresses.start();
  const told: (string | undefined)[] = [];

  for (const _ of [1, 2, 3, 4]) {
    told.push(addresses.advertisedTo(CARRIER));
    await clock.pass(30_000);
  }
  addresses.stop();

  expect(told).toEqual([FIRST, FIRST, FIRST, SECOND]);
  expect(warnings).toEqual([
    'the STUN server did not tell our address',
    'the STUN server did not tell our address',
  ]);
  expect(changes).toEqual([91_000]);
  expect(clock.waiting).toBe(0);
});

test('OurAddresses starts 5 s later without an address when the STUN server’s name has no look-up that ends', async () => {
  const { addresses, clock, warnings } = open({ askStun: () => new Promise(() => {}) });
  let isStarted = false;
  const started = addresses.start().then(() => {
    isStarted = true;
  });

  await clock.pass(4_999);
  const wasStarted = isStarted;
  await clock.pass(1);
  await started;
  addresses.stop();

  expect(wasStarted).toBe(false);
  expect(warnings).toEqual(['the STUN server did not tell our address']);
});

test('OurAddresses says which address a trunk’s carrier is told, and where it is from', async () => {
  const trunks = [
    trunkTo(CARRIER, { advertisedAddress: 'auto' }),
    trunkTo(OTHER, { advertisedAddress: SECOND }),
    trunkTo('198.51.100.9', {}),
  ];
  const { addresses } = open({ trunks, publicAddress: undefined });
  await addresses.start();
  const before = addresses.inUseFor(trunks[0] ?? trunkTo(CARRIER));

  addresses.seen(CARRIER, FIRST);

  expect(before).toEqual({ address: null, source: 'local' });
  expect(trunks.map((trunk) => addresses.inUseFor(trunk))).toEqual([
    { address: FIRST, source: 'carrier' },
    { address: SECOND, source: 'setting' },
    { address: null, source: 'local' },
  ]);
});

test('OurAddresses reports no change where no setting is auto', async () => {
  const { addresses, changes, clock } = open({ publicAddress: FIRST });
  await addresses.start();

  addresses.seen(CARRIER, SECOND);
  clock.advance(60_000);

  expect([addresses.advertisedTo(CARRIER), changes]).toEqual([FIRST, []]);
});
