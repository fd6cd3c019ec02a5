/** How many lines of a trunk are in use. */
import { expect, test } from 'vitest';
import { TrunkLines } from '../../src/telephony/drachtio/carrier/outgoing-calls.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';

function trunkOf(fields: Readonly<Record<string, unknown>> = {}) {
  const [trunk] = parseTrunks(JSON.stringify([{ name: 'acme', proxy: '192.0.2.1', ...fields }]));
  if (trunk === undefined) throw new Error('There is no trunk');
  return trunk;
}

test('TrunkLines tells how many lines are free, as calls take and leave them', () => {
  const trunk = trunkOf({ maxCalls: 2, callsPerSecond: 3 });
  const lines = new TrunkLines();

  const leave = lines.take(trunk);
  const taken = lines.lineOf(trunk);
  leave?.();

  expect(taken).toEqual({ trunk: 'acme', callsPerSecond: 3, free: 1, total: 2 });
  expect(lines.lineOf(trunk).free).toBe(2);
});

test('TrunkLines has no end where the operator set none, and nothing free while the carrier is away', () => {
  const lines = new TrunkLines();

  expect(lines.lineOf(trunkOf())).toMatchObject({ free: Infinity, total: Infinity });
  expect(lines.lineOf(trunkOf(), { problem: 'not registered' })).toMatchObject({
    free: 0,
    problem: 'not registered',
  });
});

test('TrunkLines has one line while only a call can show whether the carrier is there', () => {
  const trunk = trunkOf();
  const lines = new TrunkLines();

  const before = lines.lineOf(trunk, { isUncertain: true }).free;
  lines.take(trunk);

  expect([before, lines.lineOf(trunk, { isUncertain: true }).free]).toEqual([1, 0]);
});

test.each([0, -1, 1001, '5'])('parseTrunks refuses %o calls a second', (callsPerSecond) => {
  expect(() => trunkOf({ callsPerSecond })).toThrow('trunk "acme": callsPerSecond: ');
});
