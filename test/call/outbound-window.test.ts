/** Calls that are not to be dialled yet: windows and calling hours, over restarts and clocks that are set. */
import { expect, test } from 'vitest';
import { OutboundDialer } from '../../src/call/outbound/outbound-dialer.ts';
import type { CallingHours } from '../../src/domain/dialing/calling-hours.ts';
import { STORE_NOW_MS } from '../support/store/test-store.ts';
import { AGENT_NUMBER } from './support/call-world.ts';
import {
  lineOf,
  numbered,
  type OutboundWorld,
  openOutboundWorld,
  pass,
  settle,
} from './support/outbound-world.ts';

const inMs = (ms: number) => new Date(STORE_NOW_MS + ms);

const reasonOf = async (world: OutboundWorld, callId: string) =>
  (await world.store.calls.findById(callId))?.failureReason;

/** Not dialled before, in milliseconds from now; expires ten minutes later. */
const notBefore = (ms: number) => ({ notBeforeAt: inMs(ms), expiresAt: inMs(ms + 600_000) });

test('OutboundDialer dials a call no sooner than its notBefore, and lets later ones pass', async () => {
  const world = await openOutboundWorld();
  world.dialer.start();
  const callId = await world.queue(notBefore(60_000));
  await world.queue();
  const reason = await reasonOf(world, callId);
  const estimated = await world.dialer.estimatedStart(AGENT_NUMBER);

  await pass(world, 59_000, 500);
  const before = [...world.carrier.dialled];
  await pass(world, 2000, 100);

  expect(before).toEqual([numbered(2)]);
  expect(world.carrier.dialled).toEqual([numbered(2), numbered(1)]);
  expect(reason).toBe(`It is not to be dialled before ${inMs(60_000).toISOString()}.`);
  expect(estimated.getTime()).toBeLessThan(STORE_NOW_MS + 1000);
  expect(await reasonOf(world, callId)).toBeNull();
});

test('OutboundDialer keeps the window of a call over a restart', async () => {
  const world = await openOutboundWorld();
  world.dialer.start();
  const callId = await world.queue(notBefore(60_000));
  await world.dialer.stop();
  const again = new OutboundDialer({
    ...world.parts,
    environment: 'live',
    carrier: {
      routeFor: () => lineOf('main'),
      place: ({ to }) => {
        world.carrier.dialled.push(to);
        throw new Error('no answer');
      },
    },
    parts: () => world.parts,
    registry: world.registry,
    findAgent: (scope, agentId) => world.store.agents.find(scope, agentId),
  });

  again.start();
  await pass(world, 59_000, 500);
  const before = world.carrier.dialled.length;
  await pass(world, 2000, 100);
  await again.stop();

  expect([before, world.carrier.dialled]).toEqual([0, [numbered(1)]]);
  expect(await world.stateOf(callId)).toBe('failed error');
});

test('OutboundDialer fails a call at its notAfter, and says why', async () => {
  const world = await openOutboundWorld();
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', { free: 0, total: 1 }) };
  world.dialer.start();
  const callId = await world.queue({ notAfterAt: inMs(60_000), expiresAt: inMs(60_000) });

  await pass(world, 59_000, 500);
  const before = await world.stateOf(callId);
  await pass(world, 2000, 100);

  expect([before, await world.stateOf(callId)]).toEqual(['queued', 'failed error']);
  expect(await reasonOf(world, callId)).toBe(
    'It was not dialled before it expired. All lines of the trunk "main" are in use.',
  );
  expect(await world.eventsOf(callId)).toEqual(['call.ended']);
});

test.each([
  ['forward', 3_600_000, 'ringing'],
  ['back', -3_600_000, 'queued'],
])('OutboundDialer follows the calendar of a clock that is set %s', async (_way, byMs, expected) => {
  const world = await openOutboundWorld();
  world.dialer.start();
  const callId = await world.queue(notBefore(3_600_000));

  world.store.clock.setCalendar(byMs);
  await pass(world, 5000, 500);
  const afterSetting = await world.stateOf(callId);
  await pass(world, 7_200_000, 60_000);

  expect(afterSetting).toBe(expected);
  expect(world.carrier.dialled).toEqual([numbered(1)]);
});

test('OutboundDialer keeps calls outside of the calling hours of their account, as they are now', async () => {
  const closed: CallingHours = {
    days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
    from: '00:00',
    until: '00:01',
    timeZone: 'America/New_York',
  };
  let hours: CallingHours | null = closed;
  const asked: string[] = [];
  const world = await openOutboundWorld({
    dialer: {
      hoursOf: async (accountId) => {
        asked.push(accountId);
        return hours;
      },
    },
  });
  world.dialer.start();
  const first = await world.queue({ expiresAt: inMs(30_000) });
  const second = await world.queue();
  await settle();
  const reasons = [await reasonOf(world, first), await reasonOf(world, second)];

  await pass(world, 31_000, 500);
  const dialledBefore = world.carrier.dialled.length;
  hours = null;
  await pass(world, 2000, 500);

  expect(reasons[0]).toMatch(/^It waits for the account's calling hours: 00:00 to 00:01, /);
  expect(reasons[1]).toBe(reasons[0]);
  expect(await reasonOf(world, first)).toBe(`It was not dialled before it expired. ${reasons[0]}`);
  expect([dialledBefore, world.carrier.dialled]).toEqual([0, [numbered(2)]]);
  expect(new Set(asked)).toEqual(new Set(['acct_1']));
});
