/** A call whose caller was joined with another party: on record, within its limits and in reach until both are gone. */
import { expect, test } from 'vitest';
import { type AfterTransfer, DEFAULT_AGENT_SETTINGS } from '../../src/domain/agent/agent.ts';
import { openCallWorld } from './support/call-world.ts';
import { ScriptedTalk } from './support/scripted-party.ts';

const NUMBER = '+390698765432';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A call that was answered and, 5 s later, joined with another party. */
async function openBridged(afterTransfer: AfterTransfer = 'end') {
  const agent = { settings: { ...DEFAULT_AGENT_SETTINGS, afterTransfer } };
  const world = await openCallWorld({ agent });
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

test('CallSession refuses to transfer a joined call again, and ignores its keys', async () => {
  const { world, leg, talk, timeline } = await openBridged();

  const start = world.registry.transfer((await world.call()).id, NUMBER);
  leg.audio.emit({ kind: 'digit', digit: '5', durationMs: 100 });
  await settle();

  expect(start).toBe('transferred');
  expect([leg.transfers, talk.digits]).toEqual([[NUMBER], []]);
  expect((await timeline()).map(({ kind }) => kind)).not.toContain('digit');
});

/** A call whose caller is back with the agent after 55 s with another party. */
async function openReturned() {
  const bridged = await openBridged('return');
  const { world, leg } = bridged;
  const talks: ScriptedTalk[] = [];
  world.onTalk = (options) => {
    const talk = new ScriptedTalk(options);
    talks.push(talk);
    return talk;
  };
  world.store.clock.advance(55_000);
  leg.beAlone?.();
  await settle();
  return { ...bridged, talks };
}

test('CallSession lets the agent go on where it left when the other party hangs up first', async () => {
  const { world, leg, talk, talks, over, timeline } = await openReturned();

  leg.digit('5');
  leg.release({ kind: 'far-end' });
  await over;

  expect(talks).toHaveLength(1);
  expect(talks[0]).toMatchObject({ isStarted: true, digits: ['5'], stops: 1 });
  expect(talks[0]?.options).toMatchObject({
    before: talk.soFar,
    brief: { maxDurationMs: 540_000 },
  });
  expect(talk.stops).toBe(1);
  expect(await world.call()).toMatchObject({ endReason: 'user_hangup', durationSeconds: 60 });
  expect((await timeline()).slice(2)).toEqual([
    { kind: 'transfer' },
    { kind: 'bridge_ended', reason: 'the other party has hung up', isCallerBack: true },
    { kind: 'digit' },
    expect.objectContaining({ kind: 'ended' }),
  ]);
});

test('CallSession ends as transferred with its other party unless its agent is to get the caller back', async () => {
  const { leg } = await openBridged('end');

  expect(leg.beAlone).toBeUndefined();
});

test('CallSession may transfer a caller who is back once more, by the agent as well', async () => {
  const { world, leg, talks, timeline } = await openReturned();

  await talks[0]?.options.control.transfer(NUMBER, 'the other shop');
  const { id } = await world.call();

  expect(leg.transfers).toEqual([NUMBER, NUMBER]);
  expect(world.registry.transfer(id, NUMBER)).toBe('transferred');
  expect(talks[0]?.stops).toBe(1);
  expect((await timeline()).filter(({ kind }) => kind === 'transfer')).toHaveLength(2);
});

test('CallSession no longer has the longest duration of the joined call once the caller is back', async () => {
  const { world, leg } = await openReturned();

  world.store.clock.advance(600_000);

  expect(leg.hangUps).toBe(0);
});

test('CallSession begins one conversation when a second party comes and goes before the first could begin', async () => {
  const { world, leg } = await openBridged('return');
  const talks: ScriptedTalk[] = [];
  world.onTalk = (options) => {
    const talk = new ScriptedTalk(options);
    talks.push(talk);
    return talk;
  };
  const { accounts } = world.store;
  const isReadable = Promise.withResolvers<void>();
  const find = accounts.find.bind(accounts);
  accounts.find = (id) => isReadable.promise.then(() => find(id));

  leg.beAlone?.();
  await settle();
  const start = world.registry.transfer((await world.call()).id, NUMBER);
  await settle();
  leg.beAlone?.();
  await settle();
  isReadable.resolve();
  await settle();
  await settle();

  expect([start, leg.transfers]).toEqual(['begun', [NUMBER, NUMBER]]);
  expect(talks).toHaveLength(1);
  expect(talks[0]?.isStarted).toBe(true);
});

test('CallSession brings back no caller after a hang-up of either side', async () => {
  const { world, leg, over } = await openBridged('return');
  const talks: unknown[] = [];
  world.onTalk = (options) => {
    talks.push(options);
    return new ScriptedTalk(options);
  };
  const back = leg.beAlone;

  leg.hangUp = () => Promise.resolve();
  world.registry.hangUp((await world.call()).id);
  await settle();
  back?.();
  leg.release({ kind: 'near-end' });
  await over;

  expect(talks).toEqual([]);
  expect(await world.call()).toMatchObject({ endReason: 'transferred' });
});

test('CallSession ends as an error when the agent cannot go on with a caller who is back', async () => {
  const { world, leg, over } = await openBridged('return');
  world.onTalk = () => {
    throw new Error('no voice');
  };

  leg.beAlone?.();
  await over;

  expect(await world.call()).toMatchObject({
    endReason: 'error',
    failureReason: 'No conversation could begin.',
  });
});

test('CallSession gets a caller back whose other party hangs up as the agent leaves, three on a line or two', async () => {
  const agent = { settings: { ...DEFAULT_AGENT_SETTINGS, afterTransfer: 'return' } } as const;
  const world = await openCallWorld({ agent });
  const { leg, talk } = await world.answered();
  const talks: ScriptedTalk[] = [];
  world.onTalk = (options) => {
    const next = new ScriptedTalk(options);
    talks.push(next);
    return next;
  };
  leg.threeWay.leave = async (onAlone) => onAlone?.();
  await talk.options.control.bringIn(NUMBER, '');

  talk.say({ kind: 'ended', end: { kind: 'agent-hangup' } });
  await settle();

  expect(talks).toHaveLength(1);
  expect(await world.call()).toMatchObject({ status: 'in_progress' });
});
