/** What the dialer does with calls that cannot be dialled, or not now. */
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { OutboundDialer } from '../../src/call/outbound/outbound-dialer.ts';
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

test.each([
  [
    'paused',
    async (world: OutboundWorld) => {
      const agent = await world.store.agents.findByPhoneNumber(AGENT_NUMBER);
      if (agent !== undefined) await world.store.agents.update({ ...agent, status: 'paused' });
    },
    {},
  ],
  ['gone', () => undefined, { agentId: 'agent_gone' }],
])('OutboundDialer ends a call whose agent is %s, and never dials it', async (_what, change, fields) => {
  const world = await openOutboundWorld();
  const callId = await world.queue(fields);

  await change(world);
  world.dialer.start();
  await settle();

  expect(world.carrier.dialled).toEqual([]);
  expect(await world.stateOf(callId)).toBe('failed error');
  expect(await world.eventsOf(callId)).toEqual(['call.ended']);
  expect(world.counted).toEqual(['missed outbound error']);
});

test.each([
  ['no trunk has the number it is from any more', { from: '+15550109999' }],
  ['its number rings here by now', { to: AGENT_NUMBER }],
  ['it has expired', { expiresAt: new Date(STORE_NOW_MS) }],
])('OutboundDialer ends a call undialled when %s', async (_what, fields) => {
  const world = await openOutboundWorld();
  const callId = await world.queue(fields);

  world.dialer.start();
  await settle();

  expect(world.carrier.dialled).toEqual([]);
  expect(await world.stateOf(callId)).toBe('failed error');
});

const away = { free: 0, problem: 'not registered with sip.example.com: the carrier answered 401' };
const AWAY =
  'The trunk "main" takes no calls: not registered with sip.example.com: the carrier answered 401.';

const IN_USE = 'All lines of the trunk "main" are in use.';

test('OutboundDialer says of a call that all lines are in use, and leaves the record while they come and go', async () => {
  const world = await openOutboundWorld();
  const none = lineOf('main', { free: 0, total: 2 });
  world.carrier.lines = { [AGENT_NUMBER]: none };
  world.dialer.start();
  const callId = await world.queue({ expiresAt: new Date(STORE_NOW_MS + 60_000) });
  const reason = async () => (await world.store.calls.findById(callId))?.failureReason;
  const reasons = [await reason()];

  // One is free again, and the pace of the trunk holds the call.
  world.carrier.lines = { [AGENT_NUMBER]: { ...none, free: 1, nextDialAtMs: STORE_NOW_MS * 2 } };
  await pass(world, 2000, 1000);
  reasons.push(await reason());
  await pass(world, 61_000, 1000);

  expect([...reasons, await reason()]).toEqual([
    IN_USE,
    IN_USE,
    `It was not dialled before it expired. ${IN_USE}`,
  ]);
});

test('OutboundDialer says of a call that the server has as many calls as it takes', async () => {
  const world = await openOutboundWorld({ callsMax: 1 });
  world.dialer.start();
  await world.queue();

  const callId = await world.queue();

  expect((await world.store.calls.findById(callId))?.failureReason).toBe(
    'The server has as many calls in progress as it takes.',
  );
});

test('OutboundDialer says of a call at once that its trunk is not registered, until it is', async () => {
  const world = await openOutboundWorld();
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', away) };
  world.dialer.start();
  const callId = await world.queue();
  const reason = async () => (await world.store.calls.findById(callId))?.failureReason;
  const reasons = [await reason()];

  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', { free: 0, total: 1 }) };
  await pass(world, 1000, 500);
  reasons.push(await reason());
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main') };
  await pass(world, 1000, 500);

  expect([...reasons, await reason()]).toEqual([AWAY, IN_USE, null]);
  expect(await world.stateOf(callId)).toBe('ringing');
});

test('OutboundDialer ends a call that has expired while its trunk is not registered, over a restart', async () => {
  const world = await openOutboundWorld();
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', away) };
  const expiresAt = new Date(STORE_NOW_MS + 600_000);
  const callId = await world.queue({ expiresAt });
  world.dialer.start();
  await pass(world, 590_000, 10_000);
  const before = await world.stateOf(callId);
  await world.dialer.stop();

  const again = new OutboundDialer({
    ...world.parts,
    environment: 'live',
    carrier: {
      routeFor: () => lineOf('main', away),
      place: () => {
        throw new Error('not asked for');
      },
    },
    parts: () => world.parts,
    registry: world.registry,
    findAgent: (scope, agentId) => world.store.agents.find(scope, agentId),
  });
  again.start();
  await pass(world, 10_000, 1000);
  await again.stop();

  expect([before, await world.stateOf(callId)]).toEqual(['queued', 'failed error']);
  expect(await world.store.calls.findById(callId)).toMatchObject({
    failureReason: `It was not dialled before it expired. ${AWAY}`,
    sipStatus: null,
  });
  expect(await world.eventsOf(callId)).toEqual(['call.ended']);
  expect(await world.store.calls.timeline(callId)).toMatchObject([
    { kind: 'ended', details: { failureReason: `It was not dialled before it expired. ${AWAY}` } },
  ]);
});

test.each([
  ['forward', 3_600_000],
  ['back', -3_600_000],
])('OutboundDialer lets a call wait as long as it was to wait, on a clock that is set %s', async (_way, byMs) => {
  const world = await openOutboundWorld();
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', away) };
  const callId = await world.queue({ expiresAt: new Date(STORE_NOW_MS + 600_000) });
  world.dialer.start();
  await settle();
  const states: string[] = [];

  world.store.clock.setCalendar(byMs);
  // The queue is read again.
  await world.queue({ expiresAt: null });
  await settle();
  for (const ms of [599_000, 2000]) {
    await pass(world, ms, 1000);
    states.push(await world.stateOf(callId));
  }

  expect(states).toEqual(['queued', 'failed error']);
});

test('OutboundDialer writes the reasons of a long queue a few calls at a time', async () => {
  const world = await openOutboundWorld();
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', away) };
  for (let index = 0; index < 50; index += 1) await world.queue();
  const told = async () =>
    (await world.store.calls.queued('live', 'outbound', 100)).filter(
      (call) => call.failureReason === AWAY,
    );

  world.dialer.start();
  await settle();
  const toldAtOnce = (await told()).length;
  await pass(world, 4, 1);

  expect([toldAtOnce, (await told()).length]).toEqual([20, 50]);
});

test('OutboundDialer dials nothing that it cannot put on record, and tries again', async () => {
  const world = await openOutboundWorld();
  const callId = await world.queue();

  world.isDiskFull = true;
  world.dialer.start();
  await pass(world, 3000, 500);
  const meanwhile = [await world.stateOf(callId), world.carrier.dialled.length];
  world.isDiskFull = false;
  await pass(world, 1000, 500);

  expect(meanwhile).toEqual(['queued', 0]);
  expect(await world.stateOf(callId)).toBe('ringing');
  expect(world.carrier.dialled).toEqual([numbered(1)]);
});

test('OutboundDialer ends a call whose parts cannot be made, and dials the next', async () => {
  const world = await openOutboundWorld();
  let asked = 0;
  const parts = () => {
    asked += 1;
    if (asked === 1) throw new Error('no sound');
    return world.parts;
  };
  const carrier = {
    routeFor: () => lineOf('main'),
    place: () => {
      throw new Error('not asked for');
    },
  };
  const dialer = new OutboundDialer({
    ...world.parts,
    environment: 'live',
    carrier,
    parts,
    registry: world.registry,
    findAgent: (scope, agentId) => world.store.agents.find(scope, agentId),
  });
  const first = await world.queue();
  const second = await world.queue();

  dialer.start();
  await pass(world, 1000, 100);
  await dialer.stop();

  expect([await world.stateOf(first), await world.stateOf(second)]).toEqual([
    'failed error',
    'failed error',
  ]);
});

test('OutboundDialer ends a long queue of a paused agent a few calls at a time', async () => {
  const world = await openOutboundWorld({ agent: { status: 'paused' } });
  for (let index = 0; index < 50; index += 1) await world.queue();
  const waiting = () => world.store.calls.countQueued('live', 'outbound');

  world.dialer.start();
  await settle();
  const waitingAtOnce = await waiting();
  await pass(world, 2, 1);

  expect(waitingAtOnce).toBe(30);
  expect(await waiting()).toBe(0);
  expect(world.carrier.dialled).toEqual([]);
});

test('OutboundDialer reads no whole record to choose a call, so that a broken one keeps no other back', async () => {
  const world = await openOutboundWorld();
  const broken = await world.queue();
  const whole = await world.queue();
  const database = new Sqlite(world.store.file);
  database.prepare('update calls set metadata = ? where id = ?').run('{', broken);
  database.close();

  world.dialer.start();
  await pass(world, 10, 1);

  expect(await world.stateOf(whole)).toBe('ringing');
  expect(world.carrier.dialled).toEqual([numbered(2)]);
});

test('OutboundDialer dials every call of a long queue once, over a restart in the middle', async () => {
  const world = await openOutboundWorld({ callsMax: 1000 });
  for (let index = 0; index < 300; index += 1)
    await world.queue({ createdAt: new Date(STORE_NOW_MS - 1000 + index) });
  const calls = world.store.calls;
  world.store.clock.advance(1);
  world.dialer.start();
  await pass(world, 100, 1);
  const first = world.carrier.dialled.length;
  await world.dialer.stop();

  const again = new OutboundDialer({
    ...world.parts,
    environment: 'live',
    carrier: {
      routeFor: () => lineOf('main'),
      place: ({ to }) => {
        world.carrier.dialled.push(to);
        throw new Error('no carrier');
      },
    },
    parts: () => world.parts,
    registry: world.registry,
    findAgent: (scope, agentId) => world.store.agents.find(scope, agentId),
    callsPerSecond: 1000,
  });
  world.store.clock.advance(1);
  again.start();
  await pass(world, 400, 1);
  await again.stop();

  expect(first).toBeGreaterThan(50);
  expect(first).toBeLessThan(200);
  expect(world.carrier.dialled).toHaveLength(300);
  expect(new Set(world.carrier.dialled).size).toBe(300);
  expect(await calls.countQueued('live', 'outbound')).toBe(0);
});
