/** How many lines of a trunk are in use. */
import { expect, test } from 'vitest';
import { TrunkChannels } from '../../src/telephony/drachtio/carrier/outgoing-calls.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';

function trunkOf(fields: Readonly<Record<string, unknown>> = {}) {
  const [trunk] = parseTrunks(JSON.stringify([{ name: 'acme', proxy: '192.0.2.1', ...fields }]));
  if (trunk === undefined) throw new Error('There is no trunk');
  return trunk;
}

test('TrunkChannels tells how many lines are free, as calls take and leave them', () => {
  const trunk = trunkOf({ maxCalls: 2, callsPerSecond: 3 });
  const channels = new TrunkChannels();

  const leave = channels.take(trunk);
  const taken = channels.routeThrough(trunk);
  leave?.();

  expect(taken).toEqual({ trunk: 'acme', callsPerSecond: 3, free: 1, total: 2 });
  expect(channels.routeThrough(trunk).free).toBe(2);
});

test('TrunkChannels has no end where the operator set none, and nothing free while the carrier is away', () => {
  const channels = new TrunkChannels();

  expect(channels.routeThrough(trunkOf())).toMatchObject({ free: Infinity, total: Infinity });
  expect(channels.routeThrough(trunkOf(), { problem: 'not registered' })).toMatchObject({
    free: 0,
    problem: 'not registered',
  });
});

test('TrunkChannels has one line while only a call can show whether the carrier is there', () => {
  const trunk = trunkOf();
  const channels = new TrunkChannels();

  const before = channels.routeThrough(trunk, { isUncertain: true }).free;
  channels.take(trunk);

  expect([before, channels.routeThrough(trunk, { isUncertain: true }).free]).toEqual([1, 0]);
});

test('TrunkChannels knows the settings of calls in progress, each once', () => {
  const [former, trunk] = [trunkOf(), trunkOf({ password: 'changed', username: 'joe' })];
  const channels = new TrunkChannels();

  const leave = [former, former, trunk].map((each) => channels.take(each));
  const during = channels.trunks;
  leave[0]?.();
  leave[2]?.();
  const later = channels.trunks;
  leave[1]?.();

  expect([during, later, channels.trunks]).toEqual([[former, trunk], [former], []]);
  expect(channels.inUse(trunk)).toBe(0);
});

test('TrunkChannels deals out turns by callsPerSecond, and none that is too far away', () => {
  const trunk = trunkOf({ callsPerSecond: 2 });
  const channels = new TrunkChannels();

  const turns = [0, 0, 0, 0].map((nowMs) => channels.takeTurn(trunk, nowMs, 1_000));
  const { nextDialAtMs } = channels.routeThrough(trunk);

  expect(turns).toEqual([0, 500, 1_000, undefined]);
  expect(nextDialAtMs).toBe(1_500);
  expect(channels.takeTurn(trunk, 2_000)).toBe(0);
  expect([1, 2, 3].map(() => channels.takeTurn(trunkOf(), 0, 0))).toEqual([0, 0, 0]);
});

test.each([0, -1, 1001, '5'])('parseTrunks refuses %o calls a second', (callsPerSecond) => {
  expect(() => trunkOf({ callsPerSecond })).toThrow('trunk "acme": callsPerSecond: ');
});

test('TrunkChannels lets a call replace another one where all lines are in use', () => {
  const trunk = trunkOf({ maxCalls: 1 });
  const channels = new TrunkChannels();
  const leave = channels.take(trunk);

  const another = channels.take(trunk);
  const replacing = channels.take(trunk, true);
  leave?.();
  const afterwards = channels.routeThrough(trunk).free;
  replacing?.();

  expect([another, afterwards]).toEqual([undefined, 0]);
  expect(channels.routeThrough(trunk).free).toBe(1);
});
