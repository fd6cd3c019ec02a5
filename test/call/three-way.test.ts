/** A three-way call: its record, and its end. */
import { expect, test } from 'vitest';
import { CarrierError } from '../../src/telephony/carrier.ts';
import { AGENT_NUMBER, openCallWorld } from './support/call-world.ts';
import { openSandboxWorld } from './support/sandbox-world.ts';

const NUMBER = '+390698765432';

const settle = () => new Promise((resolve) => setImmediate(resolve));

type World = Awaited<ReturnType<typeof openCallWorld>>;

const timelineOf = async (world: World) =>
  (await world.store.calls.timeline((await world.call()).id)).map(({ kind }) => kind);

/** A call into which the agent has brought a third party. */
async function meet() {
  const world = await openCallWorld();
  const answered = await world.answered();
  await answered.talk.options.control.bringIn(NUMBER, 'wants a refund', async function* () {});
  return { world, ...answered };
}

test('CallSession goes on with three, and tells of it once, when all hear one another', async () => {
  const { world, leg, talk } = await meet();

  const [, bridged] = await world.store.events.listByCall((await world.call()).id);
  expect(leg.broughtIn).toEqual([{ number: NUMBER, isAnnounced: true }]);
  expect(talk.thirdPartyStates).toEqual([true]);
  expect((await world.call()).status).toBe('in_progress');
  expect(await world.events()).toEqual(['call.started', 'call.bridged']);
  expect(JSON.parse(bridged?.body ?? '').data).toMatchObject({
    callId: (await world.call()).id,
    bridgedTo: NUMBER,
    bridgedAt: expect.stringMatching(/Z$/),
    qualificationSummary: 'wants a refund',
    agentRole: 'participant',
  });
  expect(await timelineOf(world)).toEqual(['ringing', 'answered', 'three_way']);
});

test.each([
  { kind: 'agent-hangup' },
  { kind: 'timeout', cause: 'silence' },
  { kind: 'failed', reason: 'the language model does not answer' },
] as const)('CallSession leaves the other two to each other when the agent ends by %o', async (end) => {
  const { world, leg, talk, over } = await meet();

  talk.say({ kind: 'ended', end });
  await settle();
  const during = [(await world.call()).status, leg.hangUps, talk.stops];
  leg.release({ kind: 'far-end' });
  await over;

  expect(during).toEqual(['in_progress', 0, 1]);
  expect([leg.threeWay.leaves, leg.hangUps]).toEqual([1, 0]);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect(await world.events()).toEqual(['call.started', 'call.bridged', 'call.ended']);
  expect(await timelineOf(world)).toEqual([
    'ringing',
    'answered',
    'three_way',
    'transfer',
    'bridge_ended',
    'ended',
  ]);
});

test('CallSession hangs up on all three when the longest duration of the call is over', async () => {
  const { world, leg, talk, over } = await meet();

  talk.say({ kind: 'ended', end: { kind: 'timeout', cause: 'max-duration' } });
  await over;

  expect([leg.threeWay.leaves, leg.hangUps]).toEqual([0, 1]);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'timeout' });
});

test('CallSession goes on with the caller alone when the other party hangs up, and ends as any other call', async () => {
  const { world, leg, talk, over } = await meet();

  leg.threeWay.beAlone();
  const entry = (await world.store.calls.timeline((await world.call()).id)).at(-1);
  const again = world.registry.transfer((await world.call()).id, NUMBER);
  talk.say({ kind: 'ended', end: { kind: 'agent-hangup' } });
  await over;

  expect(talk.thirdPartyStates).toEqual([true, false]);
  expect(entry).toMatchObject({
    kind: 'three_way_ended',
    details: { reason: 'the other party has hung up' },
  });
  expect(again).toBe('begun');
  expect([leg.threeWay.leaves, leg.hangUps]).toEqual([0, 1]);
  expect((await world.call()).endReason).toBe('agent_hangup');
});

test('CallSession hangs up on both when the agent is done and cannot leave them to each other', async () => {
  const { world, leg, talk, over } = await meet();
  leg.threeWay.refusal = new CarrierError('Cannot take the agent out of the call: …', 503);

  talk.say({ kind: 'ended', end: { kind: 'agent-hangup' } });
  await over;

  expect(leg.hangUps).toBe(1);
  expect((await world.call()).endReason).toBe('agent_hangup');
});

test('CallSession ends with its caller, even with a third party on the line', async () => {
  const { world, leg, over } = await meet();

  leg.release({ kind: 'far-end' });
  await over;

  expect((await world.call()).endReason).toBe('user_hangup');
  expect(leg.threeWay.leaves).toBe(0);
});

test.each([
  ['cold', '', { transfers: [NUMBER], broughtIn: [], announced: [] }],
  ['warm', 'a refund', { transfers: [NUMBER], broughtIn: [], announced: ['a refund'] }],
  [
    'three-way',
    'a refund',
    { transfers: [], broughtIn: [{ number: NUMBER, isAnnounced: true }], announced: ['a refund'] },
  ],
] as const)('CallRegistry does a %s transfer as a customer asks for it', async (mode, summary, expected) => {
  const world = await openCallWorld();
  const { leg, talk } = await world.answered();

  const start = world.registry.transfer((await world.call()).id, NUMBER, { mode, summary });
  await settle();

  const { transfers, broughtIn } = leg;
  const { announced } = talk;
  expect(start).toBe('begun');
  expect({ transfers, broughtIn, announced }).toEqual(expected);
  expect(talk.pendingStates).toEqual([true, false]);
});

test('CallRegistry refuses a transfer during a three-way call, and brings in no number of this server', async () => {
  const { world } = await meet();
  const other = await openCallWorld();
  const { leg } = await other.answered();
  const manner = { mode: 'three-way', summary: '' } as const;

  const start = world.registry.transfer((await world.call()).id, NUMBER);
  other.registry.transfer((await other.call()).id, AGENT_NUMBER, manner);
  await settle();

  expect(start).toBe('transferring');
  expect(leg.broughtIn).toEqual([]);
  expect(await timelineOf(other)).toEqual(['ringing', 'answered', 'transfer_failed']);
});

test('Sandbox lets a simulated call go on with three', async () => {
  const world = await openSandboxWorld();
  const id = await world.queue({ to: '+12025550199' });
  world.sandbox.start();
  while (world.sandbox.registry.inProgress.length === 0) await world.pass(60);
  await world.pass(100);

  const start = world.sandbox.registry.transfer(id, NUMBER, {
    mode: 'three-way',
    summary: 'a refund',
  });
  await world.untilOver(id);

  expect(start).toBe('begun');
  expect(await world.call(id)).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(await world.kinds(id)).toEqual(['call.started', 'call.bridged', 'call.ended']);
  expect((await world.store.calls.timeline(id)).map(({ kind }) => kind)).toContain('three_way');
});
