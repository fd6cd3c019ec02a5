/** Names of our addresses and of proxies: looked up, looked up again, and kept while nobody answers. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import {
  OurAddresses,
  type OurAddressesOptions,
} from '../../src/telephony/trunks/our-addresses.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { trunkTo } from './plane.ts';

const CARRIER = '198.51.100.1';

function open(parts: Partial<OurAddressesOptions>) {
  const clock = new FakeClock();
  const changes: number[] = [];
  const addresses = new OurAddresses({
    publicAddress: undefined,
    trunks: [],
    locateProxy: async () => [],
    lookUp: async () => [],
    onChange: () => changes.push(clock.nowMs()),
    clock,
    log: silentLogger,
    ...parts,
  });
  return { clock, changes, addresses };
}

/** Lets every look-up that has begun come to its end. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('OurAddresses tells PUBLIC_ADDRESS as it is, and the local one without it', async () => {
  const { addresses } = open({ publicAddress: '203.0.113.10' });
  const { addresses: none } = open({});

  await addresses.start();

  expect(addresses.advertisedTo(CARRIER)).toBe('203.0.113.10');
  expect(addresses.advertisedTo('127.0.0.1')).toBeUndefined();
  expect(addresses.check()).toEqual({ name: 'public address', isOk: true, state: '203.0.113.10' });
  expect(none.advertisedTo(CARRIER)).toBeUndefined();
  expect(none.check()).toBeUndefined();
});

test('OurAddresses looks a name up again every half minute, and says when it has changed', async () => {
  const answers = [['203.0.113.1'], ['203.0.113.1'], [], ['203.0.113.2', '203.0.113.3']];
  const lookUp = async () => answers.shift() ?? ['203.0.113.3', '203.0.113.2'];
  const { addresses, clock, changes } = open({ publicAddress: 'voice.example', lookUp });
  const told: (string | undefined)[] = [];

  await addresses.start();
  for (const _ of [1, 2, 3, 4, 5]) {
    told.push(addresses.advertisedTo(CARRIER));
    clock.advance(30_000);
    await settled();
  }

  const [first, second] = ['203.0.113.1', '203.0.113.2'];
  expect(told).toEqual([first, first, first, second, second]);
  expect(changes).toEqual([90_000]);
  addresses.stop();
  expect(clock.waiting).toBe(0);
});

test('OurAddresses is not ready until a name has an address', async () => {
  const answers: string[][] = [[]];
  const lookUp = async () => answers.shift() ?? ['203.0.113.1'];
  const { addresses, clock } = open({ publicAddress: 'voice.example', lookUp });

  await addresses.start();
  const before = addresses.check();
  clock.advance(30_000);
  await settled();

  expect(before).toMatchObject({
    isOk: false,
    state: 'cannot find the address of "voice.example"',
  });
  expect(addresses.check()).toMatchObject({ isOk: true, state: 'voice.example is 203.0.113.1' });
});

test('OurAddresses starts though nobody answers a look-up', async () => {
  const lookUp = () => new Promise<never>(() => undefined);
  const { addresses, clock } = open({ publicAddress: 'voice.example', lookUp });

  const started = addresses.start();
  clock.advance(5_000);
  await started;

  expect(addresses.check()?.isOk).toBe(false);
  addresses.stop();
});

test('OurAddresses tells the far ends of a trunk the address of that trunk', async () => {
  const own = { advertisedAddress: 'second.example' };
  const byAddress = trunkTo(CARRIER, { ...own, allowedSources: ['203.0.113.128/25'] });
  const plain = trunkTo('198.51.100.2', { name: 'plain' });
  const { addresses } = open({
    publicAddress: '203.0.113.10',
    trunks: [plain, byAddress],
    lookUp: async (name) => (name === 'second.example' ? ['203.0.113.20'] : []),
  });

  await addresses.start();

  expect(addresses.advertisedTo('198.51.100.9', byAddress)).toBe('203.0.113.20');
  expect(addresses.advertisedTo(CARRIER)).toBe('203.0.113.20');
  expect(addresses.advertisedTo('203.0.113.200')).toBe('203.0.113.20');
  expect(addresses.advertisedTo('198.51.100.2', plain)).toBe('203.0.113.10');
  expect(addresses.advertisedTo('198.51.100.2')).toBe('203.0.113.10');
  addresses.stop();
});

test('OurAddresses finds a proxy by its name, keeps it half a minute, and longer while nobody answers', async () => {
  const trunk = trunkTo('sip.example', { advertisedAddress: '203.0.113.20' });
  const answers = [[CARRIER], [], ['198.51.100.7']];
  const { addresses, clock } = open({
    trunks: [trunk],
    locateProxy: async () => answers.shift() ?? [],
  });
  const found: string[] = [];

  for (const _ of [1, 2, 3, 4]) {
    found.push(await addresses.proxyAddressOf(trunk));
    clock.advance(15_000);
  }
  found.push(await addresses.proxyAddressOf(trunk));

  expect(found).toEqual([CARRIER, CARRIER, CARRIER, CARRIER, '198.51.100.7']);
  expect(addresses.advertisedTo('198.51.100.7')).toBe('203.0.113.20');
});

test('OurAddresses takes a proxy by address as it is', async () => {
  const { addresses } = open({ locateProxy: () => Promise.reject(new Error('asked')) });

  expect(await addresses.proxyAddressOf(trunkTo(CARRIER))).toBe(CARRIER);
});
