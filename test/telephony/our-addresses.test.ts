/** Host names of our addresses and of proxies: looked up, refreshed, and kept while DNS does not answer. */
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

test('OurAddresses starts without an answer to its look-up', async () => {
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

test('OurAddresses finds a proxy by its name, keeps it half a minute, and longer while DNS does not answer', async () => {
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

test('OurAddresses knows the proxies of its trunks from the start, of two trunks with one proxy by one look-up', async () => {
  const trunks = [trunkTo('sip.example'), trunkTo('sip.example', { name: 'second' })];
  const asked: string[] = [];
  const { addresses, clock } = open({
    trunks: [...trunks, trunkTo('198.51.100.2', { name: 'third' })],
    locateProxy: async ({ name }) => [CARRIER, `198.51.100.${asked.push(name) + 10}`],
  });

  await addresses.start();
  await settled();
  const known = [CARRIER, '::ffff:198.51.100.11', '198.51.100.2', '198.51.100.3'];
  const isProxy = known.map((address) => addresses.isProxy(address));
  clock.advance(30_000);
  await settled();

  expect(isProxy).toEqual([true, true, true, false]);
  expect([asked.length, addresses.isProxy('198.51.100.12')]).toEqual([2, true]);
  addresses.stop();
  expect(clock.waiting).toBe(0);
});

test('OurAddresses knows the proxy of a trunk that is set up later, and forgets that of one removed', async () => {
  const { addresses } = open({ locateProxy: async () => [CARRIER] });
  await addresses.start();

  addresses.useTrunks([trunkTo('sip.example')]);
  await settled();
  // As a change of other settings makes it.
  addresses.useTrunks([trunkTo('sip.example', { maxCalls: 1 })]);
  const changed = addresses.isProxy(CARRIER);
  addresses.useTrunks([]);

  expect([changed, addresses.isProxy(CARRIER)]).toEqual([true, false]);
  addresses.stop();
});

test('OurAddresses looks up 16 proxies at a time, and goes on while some are silent', async () => {
  let inProgress = 0;
  let most = 0;
  const trunks = Array.from({ length: 40 }, (_, index) =>
    trunkTo(`sip-${index}.example`, { name: `trunk-${index}` }),
  );
  const { addresses, clock } = open({
    trunks,
    locateProxy: async ({ name }) => {
      most = Math.max(most, ++inProgress);
      if (name === 'trunk-3') await new Promise(() => undefined);
      await settled();
      inProgress -= 1;
      return [`192.0.2.${name.slice(6)}`];
    },
  });

  await addresses.start();
  await expect.poll(() => addresses.isProxy('192.0.2.39')).toBe(true);
  clock.advance(5_000);
  await settled();

  expect([most, addresses.isProxy('192.0.2.3')]).toEqual([16, false]);
  addresses.stop();
});

test('OurAddresses does not make a change of trunks wait for DNS, but the call that needs the name', async () => {
  const answer = Promise.withResolvers<readonly string[]>();
  const { addresses } = open({ lookUp: () => answer.promise });
  const trunk = trunkTo(CARRIER, { advertisedAddress: 'own.example' });
  await addresses.start();

  addresses.useTrunks([trunk]);
  const call = addresses.proxyAddressOf(trunk).then(() => addresses.advertisedTo(CARRIER, trunk));
  await settled();
  answer.resolve(['203.0.113.20']);

  expect(await call).toBe('203.0.113.20');
  addresses.stop();
});

test('OurAddresses says so when a name is found that had no address at the start', async () => {
  const answers: string[][] = [[]];
  const lookUp = async () => answers.shift() ?? ['203.0.113.1'];
  const { addresses, clock, changes } = open({ publicAddress: 'voice.example', lookUp });

  await addresses.start();
  clock.advance(30_000);
  await settled();

  expect(changes).toEqual([30_000]);
  addresses.stop();
});

test('OurAddresses takes a proxy by address as it is', async () => {
  const { addresses } = open({ locateProxy: () => Promise.reject(new Error('asked')) });

  expect(await addresses.proxyAddressOf(trunkTo(CARRIER))).toBe(CARRIER);
});
