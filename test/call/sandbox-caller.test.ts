import { setImmediate } from 'node:timers/promises';
/** Callers that ring in: taken up from the queue in order, as lines get free, and held like any call. */
import { expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import { openSandboxWorld, type SandboxWorld } from './support/sandbox-world.ts';

const CALLS_MAX = 100;

const ringIn = (world: SandboxWorld, facts: Partial<Call> = {}) =>
  world.queue({
    direction: 'inbound',
    from: '+15005550110',
    to: '+12025550123',
    scenario: 'friendly',
    ...facts,
  });

const callsOf = (world: SandboxWorld, ids: readonly string[]) =>
  Promise.all(ids.map((id) => world.call(id)));

const countOf = async (world: SandboxWorld, ids: readonly string[], status: Call['status']) =>
  (await callsOf(world, ids)).filter((call) => call.status === status).length;

test.each([
  ['friendly', 'completed', 'user_hangup'],
  ['hangup', 'completed', 'user_hangup'],
  ['silent', 'completed', 'timeout'],
  ['transfer', 'completed', 'transferred'],
  ['appointment', 'completed', 'user_hangup'],
  ['error', 'failed', 'error'],
  ['no_answer', 'failed', 'no_answer'],
])('SandboxCaller lets the party "%s" ring in: %s, %s', async (scenario, status, endReason) => {
  const world = await openSandboxWorld();
  world.sandbox.start();

  const id = await ringIn(world, { scenario });
  await world.untilOver(id);

  expect(await world.call(id)).toMatchObject({ direction: 'inbound', status, endReason });
});

test('SandboxCaller books under the number that rang in', async () => {
  const world = await openSandboxWorld();
  world.sandbox.start();

  const id = await ringIn(world, { scenario: 'appointment', from: '+390612345678' });
  await world.untilOver(id);

  expect((await world.event(id, 'appointment.booked')).appointment).toMatchObject({
    attendeePhone: '+390612345678',
  });
});

test('SandboxCaller takes up what waited before the start', async () => {
  const world = await openSandboxWorld();

  const id = await ringIn(world);
  world.sandbox.start();
  await world.untilOver(id);

  expect((await world.call(id)).endReason).toBe('user_hangup');
});

test('SandboxCaller ends a call whose agent was paused meanwhile', async () => {
  const world = await openSandboxWorld();

  const id = await ringIn(world);
  await world.store.agents.update({ ...world.agent, status: 'paused' });
  world.sandbox.start();
  await world.untilOver(id);

  expect(await world.call(id)).toMatchObject({ status: 'failed', endReason: 'error' });
  expect(await world.kinds(id)).toEqual(['call.ended']);
});

test('SandboxCaller holds a hundred calls at once, and the next as soon as one is over', async () => {
  const world = await openSandboxWorld();
  world.sandbox.start();

  const first: string[] = [];
  while (first.length < CALLS_MAX) first.push(await ringIn(world, { scenario: 'no_answer' }));
  const second = [
    await ringIn(world, { scenario: 'hangup' }),
    await ringIn(world, { scenario: 'hangup' }),
  ];
  await setImmediate();
  const atFirst = [await countOf(world, first, 'ringing'), await countOf(world, second, 'queued')];
  await world.untilOver(...first, ...second);

  expect(atFirst).toEqual([CALLS_MAX, 2]);
  expect(await countOf(world, second, 'completed')).toBe(2);
});

test('SandboxCaller takes up nothing once it drains; what talks is finished, what waits stays', async () => {
  const world = await openSandboxWorld();
  world.sandbox.start();

  const talking = await ringIn(world);
  await setImmediate();
  const drained = world.sandbox.drain();
  const waiting = await ringIn(world);
  await world.untilOver(talking);
  await drained;

  expect((await world.call(talking)).endReason).toBe('user_hangup');
  expect((await world.call(waiting)).status).toBe('queued');
});

test('Sandbox hangs up calls that ring and calls that talk, in both directions', async () => {
  const world = await openSandboxWorld();
  world.sandbox.start();

  const ids = [
    await ringIn(world),
    await world.queue({}),
    await ringIn(world),
    await world.queue({}),
  ];
  await setImmediate();
  const [ringingIn = '', ringingOut = '', talkingIn = '', talkingOut = ''] = ids;
  const wereThere = [
    world.sandbox.registry.hangUp(ringingIn),
    world.sandbox.registry.hangUp(ringingOut),
  ];
  await world.pass(300);
  wereThere.push(
    world.sandbox.registry.hangUp(talkingIn),
    world.sandbox.registry.hangUp(talkingOut),
  );
  await world.untilOver(...ids);

  expect(wereThere).toEqual([true, true, true, true]);
  expect((await callsOf(world, ids)).map(({ endReason }) => endReason)).toEqual([
    'no_answer',
    'no_answer',
    'agent_hangup',
    'agent_hangup',
  ]);
  expect(world.sandbox.registry.hangUp(ringingIn)).toBe(false);
});

test('Sandbox ends every call when it stops, and stops twice', async () => {
  const world = await openSandboxWorld();
  world.sandbox.start();
  const ids = [await ringIn(world), await world.queue({})];
  await world.pass(300);

  const stopped = world.sandbox.stop();
  await world.untilOver(...ids);
  await stopped;
  await world.sandbox.stop();

  expect((await callsOf(world, ids)).map(({ endReason }) => endReason)).toEqual(['error', 'error']);
});
