/** The queue: its order, its pace, and when it passes calls by. */
import { expect, test } from 'vitest';
import { abandonQueued } from '../../src/domain/dialing/outbound-rules.ts';
import { AGENT_NUMBER } from './support/call-world.ts';
import {
  lineOf,
  numbered,
  type OutboundWorld,
  openOutboundWorld,
  pass,
  ScriptedOutgoing,
  settle,
} from './support/outbound-world.ts';

const OTHER_NUMBER = '+15550100002';

test('OutboundDialer dials what waits at the start, in the order in which it was asked for', async () => {
  const world = await openOutboundWorld();
  for (let index = 0; index < 5; index += 1) {
    await world.queue();
    world.store.clock.advance(1);
  }

  world.dialer.start();
  await pass(world, 20, 1);

  expect(world.carrier.dialled).toEqual([1, 2, 3, 4, 5].map(numbered));
});

test('OutboundDialer dials nothing before its start, nor after a drain, and keeps the queue', async () => {
  const world = await openOutboundWorld();
  const early = await world.queue();
  const before = [...world.carrier.dialled];

  world.dialer.drain();
  world.dialer.start();
  const late = await world.queue();
  await pass(world, 3000, 500);

  expect([before, world.carrier.dialled]).toEqual([[], []]);
  expect([await world.stateOf(early), await world.stateOf(late)]).toEqual(['queued', 'queued']);
  expect(world.dialer.isDraining).toBe(true);
});

test('OutboundDialer leaves nothing behind when it is stopped, twice', async () => {
  const world = await openOutboundWorld();
  const waiting = world.store.clock.waiting;
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', { free: 0, total: 1 }) };
  world.dialer.start();
  await world.queue();

  await world.dialer.stop();
  await world.dialer.stop();

  expect(world.store.clock.waiting).toBe(waiting);
});

test('OutboundDialer begins no more calls in a second than the trunk takes', async () => {
  const world = await openOutboundWorld({ dialer: { callsPerSecond: 5 }, callsMax: 100 });
  world.dialer.start();
  for (let index = 0; index < 20; index += 1) await world.queue();
  const counts = [world.carrier.dialled.length];

  for (let second = 0; second < 3; second += 1) {
    await pass(world, 1000);
    counts.push(world.carrier.dialled.length);
  }

  expect(counts).toEqual([1, 6, 11, 16]);
});

test('OutboundDialer obeys the pace that the trunk itself has', async () => {
  const world = await openOutboundWorld({ callsMax: 100 });
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('slow', { callsPerSecond: 0.5 }) };
  world.dialer.start();
  for (let index = 0; index < 4; index += 1) await world.queue();

  await pass(world, 4000);

  expect(world.carrier.dialled).toEqual([1, 2, 3].map(numbered));
});

test('OutboundDialer lets calls of another trunk pass by those whose trunk has no free line', async () => {
  const world = await openOutboundWorld();
  world.carrier.lines = {
    [AGENT_NUMBER]: lineOf('busy', { free: 0, total: 2 }),
    [OTHER_NUMBER]: lineOf('idle'),
  };
  world.dialer.start();

  const blocked = await world.queue();
  const passing = await world.queue({ from: OTHER_NUMBER });
  const states = [await world.stateOf(blocked), await world.stateOf(passing)];
  world.carrier.lines[AGENT_NUMBER] = lineOf('busy', { free: 1, total: 2 });
  await pass(world, 1000, 100);

  expect(states).toEqual(['queued', 'ringing']);
  expect(await world.stateOf(blocked)).toBe('ringing');
});

test('OutboundDialer shares the limit of calls, and goes on as soon as one is over', async () => {
  const world = await openOutboundWorld({ callsMax: 2 });
  world.dialer.start();
  const calls = [await world.queue(), await world.queue(), await world.queue()];
  await pass(world, 100);
  const states = () => Promise.all(calls.map((callId) => world.stateOf(callId)));
  const before = await states();

  world.carrier.outgoing[0]?.refuse(486);
  await settle();
  world.store.clock.advance(1);
  await settle();

  expect(before).toEqual(['ringing', 'ringing', 'queued']);
  expect(await states()).toEqual(['failed busy', 'ringing', 'ringing']);
});

test('OutboundDialer never dials a call that was hung up while it waited', async () => {
  const world = await openOutboundWorld({ dialer: { callsPerSecond: 1 } });
  world.dialer.start();
  await world.queue();
  const second = await world.queue();
  const third = await world.queue();

  const call = await world.store.calls.findById(second);
  if (call === undefined) throw new Error('The call is not there');
  const change = abandonQueued(call, { now: world.store.clock.now(), eventId: 'evt_x' });
  await world.store.calls.update(change.call, change.events);
  await pass(world, 3000, 100);

  expect(world.carrier.dialled).toEqual([1, 3].map(numbered));
  expect(await world.stateOf(second)).toBe('failed no_answer');
  expect(await world.stateOf(third)).toBe('ringing');
});

test('OutboundDialer tells when a call would be dialled', async () => {
  const world = await openOutboundWorld({ dialer: { callsPerSecond: 1 }, callsMax: 1 });
  const inMs = async () =>
    (await world.dialer.estimatedStart(AGENT_NUMBER)).getTime() - world.store.clock.nowMs();
  const idle = await inMs();
  world.dialer.start();

  await world.queue();
  const oneRings = await inMs();
  await world.queue();
  const oneWaits = await inMs();
  world.carrier.lines = {};

  expect([idle, oneRings, oneWaits]).toEqual([0, 120_000, 240_000]);
  expect(await inMs()).toBe(0);
});

test('OutboundDialer counts calls that were added in the same breath as being ahead', async () => {
  const world = await openOutboundWorld({ dialer: { callsPerSecond: 1 } });

  const first = await world.queue();
  await world.queue();

  expect(await world.stateOf(first)).toBe('queued');
  expect(
    (await world.dialer.estimatedStart(AGENT_NUMBER)).getTime() - world.store.clock.nowMs(),
  ).toBe(2000);
});

test('OutboundDialer reads the agent once and looks the trunk up once to dial a call', async () => {
  const reads: string[] = [];
  const world: OutboundWorld = await openOutboundWorld({
    dialer: {
      findAgent: async (scope, agentId) => {
        reads.push('agent');
        return world.store.agents.find(scope, agentId);
      },
      carrier: {
        routeFor: (from) => {
          reads.push('trunk');
          return world.carrier.lines[from];
        },
        place: () => new ScriptedOutgoing('sid_1'),
      },
    },
  });
  world.dialer.start();

  const callId = await world.queue();

  expect(await world.stateOf(callId)).toBe('ringing');
  expect(reads).toEqual(['trunk', 'agent']);
});
