/** A call whose caller was joined with another party: on record, within its limits and in reach until both are gone. */
import { expect, test } from 'vitest';
import { openCallWorld } from './support/call-world.ts';

const NUMBER = '+390698765432';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A call that was answered and, 5 s later, joined with another party. */
async function openBridged() {
  const world = await openCallWorld();
  const answered = await world.answered();
  world.store.clock.advance(5_000);
  await answered.talk.options.control.transfer(NUMBER, 'wants a refund');
  const timeline = async () =>
    (await world.store.calls.timeline((await world.call()).id)).map(({ kind, details }) => ({
      kind,
      ...details,
    }));
  return { world, timeline, ...answered };
}

test('CallSession stays in progress without its agent while two others talk', async () => {
  const { world, leg, talk, timeline } = await openBridged();
  talk.say({ kind: 'ended', end: { kind: 'transferred' } });
  await settle();

  expect(await world.call()).toMatchObject({ status: 'in_progress', endReason: null });
  expect(await world.events()).toEqual(['call.started', 'call.bridged']);
  expect([talk.stops, leg.hangUps]).toEqual([1, 0]);
  expect(world.registry.inProgress.map(({ audio }) => audio)).toEqual([leg.audio]);
  expect(world.registry.size).toBe(1);
  expect((await timeline()).map(({ kind }) => kind)).toEqual(['ringing', 'answered', 'transfer']);
});

test.each([
  ['far-end', 'the first party has hung up'],
  ['transferred', 'the other party has hung up'],
] as const)('CallSession ends a joined call as transferred, with all of its duration (%s)', async (kind, reason) => {
  const { world, leg, over, timeline } = await openBridged();

  world.store.clock.advance(55_000);
  leg.release({ kind });
  await over;

  expect(await world.call()).toMatchObject({
    status: 'completed',
    endReason: 'transferred',
    durationSeconds: 60,
    recordingFile: `recordings/${(await world.call()).id}.wav`,
  });
  expect(await world.events()).toEqual(['call.started', 'call.bridged', 'call.ended']);
  expect((await timeline()).slice(-2)).toMatchObject([
    { kind: 'bridge_ended', reason },
    { kind: 'ended', endReason: 'transferred' },
  ]);
  expect(world.registry.size).toBe(0);
});

test('CallSession hangs up on both when a customer asks for it', async () => {
  const { world, leg, over, timeline } = await openBridged();

  const isLive = world.registry.hangUp((await world.call()).id);
  await over;

  expect([isLive, leg.hangUps]).toEqual([true, 1]);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect((await timeline()).at(-2)).toEqual({
    kind: 'bridge_ended',
    reason: 'it was hung up on both',
  });
});

test('CallSession hangs up on both when the longest duration of the call is over, counted from the answer', async () => {
  const { world, leg, over, timeline } = await openBridged();

  world.store.clock.advance(594_999);
  const before = leg.hangUps;
  world.store.clock.advance(1);
  await over;

  expect([before, leg.hangUps]).toEqual([0, 1]);
  expect(await world.call()).toMatchObject({ endReason: 'transferred', durationSeconds: 600 });
  expect((await timeline()).at(-2)).toEqual({
    kind: 'bridge_ended',
    reason: 'the longest duration is over',
  });
});

test('CallSession leaves no timer behind when a joined call is over', async () => {
  const { world, leg, over } = await openBridged();
  const before = world.store.clock.waiting;

  leg.release({ kind: 'far-end' });
  await over;

  expect(world.store.clock.waiting).toBeLessThan(before);
});

test('CallSession hands a joined call over to nobody else, and takes no key of it', async () => {
  const { world, leg, talk, timeline } = await openBridged();

  const start = world.registry.transfer((await world.call()).id, NUMBER);
  leg.audio.emit({ kind: 'digit', digit: '5', durationMs: 100 });
  await settle();

  expect(start).toBe('transferred');
  expect([leg.transfers, talk.digits]).toEqual([[NUMBER], []]);
  expect((await timeline()).map(({ kind }) => kind)).not.toContain('digit');
});
