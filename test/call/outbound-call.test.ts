/** One outgoing call: what it comes to, whatever the carrier does. */
import { expect, test } from 'vitest';
import { AGENT_NUMBER } from './support/call-world.ts';
import {
  dialled,
  lineOf,
  type OutboundWorld,
  openOutboundWorld,
  settle,
} from './support/outbound-world.ts';
import { ScriptedLeg, ScriptedTalk } from './support/scripted-party.ts';

const findCall = (world: OutboundWorld, callId: string) => world.store.calls.findById(callId);

test('OutboundCall is on record as ringing, with its Call-ID, while the callee’s telephone rings', async () => {
  const { world, callId } = await dialled();

  expect(await findCall(world, callId)).toMatchObject({
    status: 'ringing',
    startedAt: world.store.clock.now(),
    answeredAt: null,
    carrierCallSid: 'sid_1',
  });
  expect(await world.eventsOf(callId)).toEqual([]);
});

test('OutboundCall talks when the callee answers, and ends when he hangs up', async () => {
  const { world, callId, outgoing } = await dialled();
  const talks: ScriptedTalk[] = [];
  world.onTalk = (options) => {
    const talk = new ScriptedTalk(options);
    talks.push(talk);
    return talk;
  };

  world.store.clock.advance(4000);
  const leg = outgoing.answer();
  await settle();
  const isTalking = talks[0]?.isStarted;
  world.store.clock.advance(9500);
  leg.release({ kind: 'far-end' });
  await settle();

  expect(isTalking).toBe(true);
  expect(await findCall(world, callId)).toMatchObject({
    status: 'completed',
    endReason: 'user_hangup',
    durationSeconds: 10,
    recordingFile: `recordings/${callId}.wav`,
  });
  expect(await world.eventsOf(callId)).toEqual(['call.started', 'call.ended']);
  expect(world.counted).toEqual(['started outbound', 'audio 100', 'ended outbound user_hangup 10']);
  expect(world.registry.size).toBe(0);
});

test('OutboundCall lets the overrides of the call go before the agent', async () => {
  const world = await openOutboundWorld();
  const greetings: string[] = [];
  world.onTalk = (options) => {
    greetings.push(options.brief.greeting);
    return new ScriptedTalk(options);
  };
  world.dialer.start();

  await world.queue({ overrides: { greeting: 'Your taxi is here' } });
  world.carrier.outgoing[0]?.answer();
  await settle();

  expect(greetings).toEqual(['Your taxi is here']);
});

test.each([
  [486, 'busy'],
  [600, 'busy'],
  [603, 'busy'],
  [480, 'no_answer'],
  [408, 'no_answer'],
  [487, 'no_answer'],
  [404, 'error'],
  [401, 'error'],
  [407, 'error'],
  [488, 'error'],
  [500, 'error'],
  [503, 'error'],
])('OutboundCall that is answered %i is over as %s', async (sipStatus, reason) => {
  const { world, callId, outgoing } = await dialled();

  outgoing.refuse(sipStatus);
  await settle();

  expect(await world.stateOf(callId)).toBe(`failed ${reason}`);
  expect(await world.eventsOf(callId)).toEqual(['call.ended']);
  expect(world.counted).toEqual([`missed outbound ${reason}`]);
  expect(world.registry.size).toBe(0);
  expect(await findCall(world, callId)).toMatchObject({
    failureReason: expect.stringContaining(`(SIP ${sipStatus})`),
    sipStatus,
  });
});

test('OutboundCall that a customer hangs up while it rings says so', async () => {
  const { world, callId } = await dialled();

  world.registry.hangUp(callId);
  await settle();

  expect(await findCall(world, callId)).toMatchObject({
    endReason: 'no_answer',
    failureReason: 'The call was hung up before it was answered.',
    sipStatus: 487,
  });
});

test('OutboundCall ends as error after an unexpected exception', async () => {
  const { world, callId, outgoing } = await dialled();

  outgoing.fail(new TypeError('a mistake of ours'));
  await settle();

  expect(await world.stateOf(callId)).toBe('failed error');
  expect(await findCall(world, callId)).toMatchObject({
    failureReason: 'The server failed.',
    sipStatus: null,
  });
});

test('OutboundCall that cannot be placed is over as error, and the next is dialled', async () => {
  const world = await openOutboundWorld();
  world.carrier.onPlace = () => {
    world.carrier.onPlace = () => undefined;
    throw new Error('no route');
  };
  world.dialer.start();

  const first = await world.queue();
  const second = await world.queue();
  await settle();
  world.store.clock.advance(1);
  await settle();

  expect(await world.stateOf(first)).toBe('failed error');
  expect(await world.eventsOf(first)).toEqual(['call.ended']);
  expect(await world.stateOf(second)).toBe('ringing');
});

test('OutboundCall asks the carrier to let it ring for 60 s', async () => {
  const { world } = await dialled();

  expect(world.carrier.ringingTimeoutsMs).toEqual([60_000]);
});

test('OutboundCall has a time limit for a carrier that never settles', async () => {
  const { world, callId, outgoing } = await dialled();
  outgoing.agreesToCancel = false;

  world.store.clock.advance(99_999);
  await settle();
  const before = await world.stateOf(callId);
  world.store.clock.advance(1);
  await settle();

  expect(before).toBe('ringing');
  expect(outgoing.cancels).toBe(1);
  expect(await world.stateOf(callId)).toBe('failed error');
  expect(world.registry.size).toBe(0);
});

test('OutboundCall goes on without a recording where none can be started', async () => {
  const recordings = {
    start: () => {
      throw new Error('no thread');
    },
    hasSound: () => false,
  };
  const { world, callId, outgoing } = await dialled({ parts: { recordings } });

  outgoing.answer().release({ kind: 'far-end' });
  await settle();

  expect(await findCall(world, callId)).toMatchObject({ status: 'completed', recordingFile: null });
});

test('OutboundCall whose leg cannot be used is hung up and ends as error', async () => {
  const { world, callId, outgoing } = await dialled();
  const leg = new ScriptedLeg();
  leg.onReleased = () => {
    throw new Error('a leg that is broken');
  };

  outgoing.answer(leg);
  await settle();

  expect(leg.hangUps).toBe(1);
  expect(await world.stateOf(callId)).toBe('failed error');
  expect(await world.eventsOf(callId)).toEqual(['call.started', 'call.ended']);
  expect(world.registry.size).toBe(0);
});

test('OutboundCall is put on record late when the disk is full as it fails', async () => {
  const { world, callId, outgoing } = await dialled();

  world.isDiskFull = true;
  outgoing.refuse(486);
  await settle();
  const meanwhile = await world.stateOf(callId);
  world.isDiskFull = false;
  world.store.clock.advance(1000);
  await settle();

  expect(meanwhile).toBe('ringing');
  expect(await world.stateOf(callId)).toBe('failed busy');
  expect(world.registry.size).toBe(0);
});

test('OutboundCall gives its trunk line the whole time until it is over', async () => {
  const { world, outgoing } = await dialled({ dialer: { callsPerSecond: 5 } });
  outgoing.answer();
  await settle();
  world.carrier.lines = { [AGENT_NUMBER]: lineOf('main', { free: 0, total: 1 }) };

  const before = await world.dialer.estimatedStart(AGENT_NUMBER);

  expect(before.getTime() - world.store.clock.nowMs()).toBe(120_000);
});
