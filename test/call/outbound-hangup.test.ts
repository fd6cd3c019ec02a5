/** Outgoing calls that our own side ends. */
import { expect, test } from 'vitest';
import { dialled, settle } from './support/outbound-world.ts';

test('OutboundCall that a customer hangs up while it rings is cancelled, and counts as unanswered', async () => {
  const { world, callId, outgoing } = await dialled();

  const isHeld = world.registry.hangUp(callId);
  await settle();

  expect([isHeld, outgoing.cancels]).toEqual([true, 1]);
  expect(await world.stateOf(callId)).toBe('failed no_answer');
});

test('OutboundCall hangs up an answer that has crossed the hang-up', async () => {
  const { world, callId, outgoing } = await dialled();
  outgoing.agreesToCancel = false;

  world.registry.hangUp(callId);
  const leg = outgoing.answer();
  await settle();

  expect(leg.hangUps).toBe(1);
  expect(await world.stateOf(callId)).toBe('failed no_answer');
  expect(await world.eventsOf(callId)).toEqual(['call.ended']);
});

test('OutboundCall that a customer hangs up while it talks is over as agent_hangup', async () => {
  const { world, callId, outgoing } = await dialled();
  const leg = outgoing.answer();
  await settle();

  world.registry.hangUp(callId);
  await settle();

  expect(leg.hangUps).toBe(1);
  expect(await world.stateOf(callId)).toBe('completed agent_hangup');
});

test('OutboundCall ends as error when the server stops, without waiting for a far end that is silent', async () => {
  const { world, callId, outgoing } = await dialled();
  outgoing.agreesToCancel = false;

  const ended = world.registry.endAll('the server stops');
  await settle();
  world.store.clock.advance(2000);
  await ended;

  expect(outgoing.cancels).toBe(1);
  expect(await world.stateOf(callId)).toBe('failed error');
});

test('OutboundCall hangs up on an answer that comes after it was given up', async () => {
  const { world, outgoing } = await dialled();
  outgoing.agreesToCancel = false;
  const ended = world.registry.endAll('the server stops');
  await settle();
  world.store.clock.advance(2000);
  await ended;

  const leg = outgoing.answer();
  await settle();

  expect(leg.hangUps).toBe(1);
});

test('OutboundCall ends as error when the server stops, though the far end agrees to the CANCEL', async () => {
  const { world, callId, outgoing } = await dialled();

  await world.registry.endAll('the server stops');

  expect(outgoing.cancels).toBe(1);
  expect(await world.stateOf(callId)).toBe('failed error');
});

// An answer takes a few turns of the event loop's microtasks to get from the carrier to the conversation.
test.each(
  Array.from({ length: 12 }, (_, turns) => turns),
)('OutboundCall leaves no leg open when the server stops %i turns after the answer', async (turns) => {
  const { world, callId, outgoing } = await dialled();
  const leg = outgoing.answer();
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();

  const ended = world.registry.endAll('the server stops');
  await settle();
  world.store.clock.advance(2000);
  await ended;

  expect(leg.hangUps).toBe(1);
  expect(await world.stateOf(callId)).toMatch(/^(failed|completed) error$/);
  expect(world.registry.size).toBe(0);
});
