/** What a customer can read of a call's course. */

import { expect, test } from 'vitest';
import { AGENT_NUMBER, openCallWorld } from './support/call-world.ts';
import { settle } from './support/outbound-world.ts';
import { ScriptedIncoming } from './support/scripted-party.ts';

test('CallSession puts keys, tools and the transfer on the timeline, without a digit or a number', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();

  leg.digit('4');
  leg.audio.emit({ kind: 'digit', digit: '7', durationMs: 100 });
  for (let presses = 0; presses < 200; presses += 1) leg.digit('1');
  await talk.options.control.transfer('+390698765432', 'wants a root canal');
  talk.say({ kind: 'tool', name: 'transfer_call', outcome: 'done', tookMs: 120.04 });
  leg.release({ kind: 'transferred' });
  await over;
  talk.say({ kind: 'barge-in' });

  const timeline = await world.store.calls.timeline((await world.call()).id);
  const keys = timeline.filter(({ kind }) => kind === 'digit');
  expect(keys).toHaveLength(100);
  expect(keys.every(({ details }) => Object.keys(details).length === 0)).toBe(true);
  expect(
    timeline.filter(({ kind }) => kind !== 'digit').map(({ kind, details }) => [kind, details]),
  ).toEqual([
    ['ringing', {}],
    ['answered', {}],
    ['transfer', {}],
    ['tool', { name: 'transfer_call', outcome: 'done', tookMs: 120 }],
    ['bridge_ended', { reason: 'the other party has hung up' }],
    ['ended', expect.objectContaining({ endReason: 'transferred', failureReason: null })],
  ]);
});

test('CallSession puts nothing on the timeline after the end, though it hears of it a little later', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();

  leg.release({ kind: 'transferred' });
  world.store.clock.advance(4);
  talk.say({ kind: 'tool', name: 'transfer_call', outcome: 'done', tookMs: 600 });
  await over;

  const [tool, ended] = (await world.store.calls.timeline((await world.call()).id)).slice(-2);
  expect([tool?.kind, ended?.kind]).toEqual(['tool', 'ended']);
  expect(tool?.at).toEqual(ended?.at);
});

test('a caller who gives up while it rings has a timeline too', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);

  const over = world.router.take(incoming);
  await settle();
  incoming.cancel();
  incoming.fail(new Error('gone'));
  await over;

  expect(await world.store.calls.timeline((await world.call()).id)).toMatchObject([
    { kind: 'ringing' },
    { kind: 'ended', details: { endReason: 'no_answer', failureReason: 'The caller gave up.' } },
  ]);
});

test('CallSession counts the call up to its hang-up, though the far end takes long to answer BYE', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  leg.hangUp = () => Promise.resolve();

  world.store.clock.advance(9500);
  talk.say({ kind: 'ended', end: { kind: 'timeout', cause: 'max-duration' } });
  world.store.clock.advance(32_000);
  leg.release({ kind: 'near-end' });
  await over;

  expect(await world.call()).toMatchObject({ endReason: 'timeout', durationSeconds: 10 });
});
