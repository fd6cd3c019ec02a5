import { expect, test } from 'vitest';
import { AGENT_NUMBER, openCallWorld } from './support/call-world.ts';
import { settle } from './support/outbound-world.ts';
import { ScriptedIncoming, ScriptedLeg, ScriptedTalk } from './support/scripted-party.ts';

test('CallSession puts a call on record from its answer to the hang-up of the caller', async () => {
  const world = await openCallWorld();

  const { leg, talk, over } = await world.answered();
  const answered = await world.call();
  world.store.clock.advance(41_200);
  leg.release({ kind: 'far-end' });
  await over;

  expect(answered).toMatchObject({ status: 'in_progress', endReason: null });
  expect(await world.call()).toMatchObject({
    status: 'completed',
    endReason: 'user_hangup',
    durationSeconds: 42,
    from: '+390612345678',
    to: AGENT_NUMBER,
    carrierCallSid: 'sid@192.0.2.1',
    recordingFile: `recordings/${answered.id}.wav`,
  });
  expect(leg.recorded).toEqual([`/data/${answered.id}.wav`]);
  expect(await world.events()).toEqual(['call.started', 'call.ended']);
  expect(world.counted).toEqual(
    expect.arrayContaining(['started inbound', 'ended inbound user_hangup 42']),
  );
  expect([talk.isStarted, talk.stops, world.registry.size]).toEqual([true, 1, 0]);
});

test.each([
  [{ kind: 'agent-hangup' }, 'agent_hangup', 'completed'],
  [{ kind: 'timeout', cause: 'silence' }, 'timeout', 'completed'],
  [{ kind: 'timeout', cause: 'max-duration' }, 'timeout', 'completed'],
  [{ kind: 'transferred' }, 'transferred', 'completed'],
  [{ kind: 'failed', reason: 'no voice' }, 'error', 'failed'],
] as const)('CallSession hangs up when the conversation ends with %o', async (end, reason, status) => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();

  talk.say({ kind: 'ended', end });
  await over;

  expect(leg.hangUps).toBe(1);
  expect(await world.call()).toMatchObject({ endReason: reason, status });
});

test('CallSession keeps the first reason when the caller hangs up after the agent', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  leg.hangUp = async () => leg.release({ kind: 'far-end' });

  talk.say({ kind: 'ended', end: { kind: 'timeout', cause: 'silence' } });
  await over;

  expect(await world.call()).toMatchObject({ endReason: 'timeout' });
});

test('CallSession puts on record what was said, also while it stops, and the times of turns', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  const at = world.store.clock.now();
  const entry = (role: 'agent' | 'user', text: string) => ({ role, text, at }) as const;

  talk.say({ kind: 'said', entry: entry('agent', 'Hello') });
  talk.say({ kind: 'turn', times: { turn: 1, endOfTurnMs: 355.64697265625, speculated: true } });
  talk.say({ kind: 'barge-in' });
  talk.lastWords = { kind: 'said', entry: entry('user', 'Bye') };
  leg.release({ kind: 'far-end' });
  await over;

  const { id } = await world.call();
  expect((await world.store.calls.transcript(id)).map(({ text }) => text)).toEqual([
    'Hello',
    'Bye',
  ]);
  expect(await world.store.calls.timeline(id)).toEqual([
    { at, kind: 'ringing', details: {} },
    { at, kind: 'answered', details: {} },
    { at, kind: 'turn', details: { turn: 1, endOfTurnMs: 355.6, speculated: true } },
    { at, kind: 'barge_in', details: {} },
    {
      at,
      kind: 'ended',
      details: {
        endReason: 'user_hangup',
        answeredAt: at.toISOString(),
        answeredBy: null,
        failureReason: null,
        sipStatus: null,
      },
    },
  ]);
});

test('CallSession goes on without a recording that failed, and says so in the timeline', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();

  leg.audio.emit({ kind: 'recording-failed', reason: 'the disk is full', recordedMs: 3000 });
  await settle();
  const during = await world.call();
  leg.release({ kind: 'far-end' });
  await over;

  expect(during).toMatchObject({ status: 'in_progress', recordingTruncated: true });
  expect(await world.store.calls.timeline(during.id)).toContainEqual(
    expect.objectContaining({
      kind: 'recording_failed',
      details: { reason: 'the disk is full', recordingTruncated: true, recordedMs: 3000 },
    }),
  );
  expect(await world.call()).toMatchObject({
    status: 'completed',
    endReason: 'user_hangup',
    recordingTruncated: true,
    recordingFile: `recordings/${during.id}.wav`,
  });
  expect(world.counted).toContain('recording-failed cut_short');
});

test('CallSession has no recording where the disk took none of it', async () => {
  const world = await openCallWorld({ hasSound: false });
  const { leg, over } = await world.answered();

  leg.audio.emit({ kind: 'recording-failed', reason: 'the disk is full', recordedMs: 0 });
  await settle();
  const during = await world.call();
  leg.release({ kind: 'far-end' });
  await over;

  const nothing = { recordingFile: null, recordingTruncated: false };
  expect([during, await world.call()]).toMatchObject([nothing, nothing]);
  expect(await world.store.calls.timeline(during.id)).toContainEqual(
    expect.objectContaining({ kind: 'recording_failed', details: { reason: 'the disk is full' } }),
  );
});

test('CallSession talks without a recording where none may begin, and says why in the timeline', async () => {
  const world = await openCallWorld({ recordingRefusal: '100 MB free' });

  const { leg, talk, over } = await world.answered();
  const during = await world.call();
  leg.release({ kind: 'far-end' });
  await over;

  expect([talk.isStarted, leg.recorded]).toEqual([true, []]);
  expect(during).toMatchObject({ status: 'in_progress', recordingFile: null });
  expect((await world.store.calls.timeline(during.id)).map(({ kind }) => kind)).toEqual([
    'ringing',
    'answered',
    'recording_failed',
    'ended',
  ]);
  expect((await world.store.calls.timeline(during.id))[2]?.details).toEqual({
    reason: '100 MB free',
  });
  expect(world.counted).toContain('recording-failed not_begun');
});

test.each([
  ['back', -3_600_000],
  ['forward', 7_200_000],
])('CallSession keeps times and duration of a call while the clock is set %s', async (_way, byMs) => {
  const world = await openCallWorld();
  const startMs = world.store.clock.nowMs();
  const { leg, talk, over } = await world.answered();
  const after = (ms: number) => new Date(startMs + ms);

  world.store.clock.advance(10_000);
  world.store.clock.setCalendar(byMs);
  const at = new Date(world.store.clock.nowMs());
  talk.say({ kind: 'said', entry: { role: 'user', text: 'Hello', at } });
  talk.say({ kind: 'barge-in' });
  world.store.clock.advance(31_200);
  leg.release({ kind: 'far-end' });
  await over;

  const call = await world.call();
  expect(call).toMatchObject({
    startedAt: after(0),
    answeredAt: after(0),
    endedAt: after(41_200),
    durationSeconds: 42,
  });
  expect(await world.store.calls.transcript(call.id)).toMatchObject([{ at: after(10_000) }]);
  expect(
    (await world.store.calls.timeline(call.id)).map(({ at }) => at.getTime() - startMs),
  ).toEqual([0, 0, 10_000, 41_200]);
  const created = (await world.store.events.listByCall(call.id)).map(({ createdAt }) => createdAt);
  expect(created).toEqual([after(0), after(41_200)]);
});

test('CallSession gives words the dates of its call, on a machine whose clock was set before it', async () => {
  const world = await openCallWorld();
  world.store.clock.setCalendar(-3_600_000);
  const { leg, talk, over } = await world.answered();

  const at = new Date(world.store.clock.nowMs());
  talk.say({ kind: 'said', entry: { role: 'user', text: 'Hello', at } });
  leg.release({ kind: 'far-end' });
  await over;

  const [entry] = await world.store.calls.transcript((await world.call()).id);
  expect(entry?.at).toEqual((await world.call()).answeredAt);
});

test('CallSession of a call whose clock was set back while it rang is not answered before it began', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  const leg = new ScriptedLeg();
  const over = world.router.take(incoming);
  world.store.clock.advance(2000);
  world.store.clock.setCalendar(-3_600_000);
  incoming.connect(leg);
  await Promise.resolve();
  leg.release({ kind: 'far-end' });
  await over;

  const { startedAt, answeredAt, endedAt } = await world.call();
  expect(answeredAt).toEqual(startedAt);
  expect(endedAt).toEqual(startedAt);
});

test('CallSession goes on while the database refuses, and catches up in order', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  const said = (text: string) => {
    talk.say({ kind: 'said', entry: { role: 'user', text, at: world.store.clock.now() } });
  };

  world.isDiskFull = true;
  said('one');
  said('two');
  leg.release({ kind: 'far-end' });
  await Promise.resolve();
  const during = await world.call();
  world.isDiskFull = false;
  world.store.clock.advance(1000);
  await over;

  expect(during.status).toBe('in_progress');
  expect((await world.store.calls.transcript(during.id)).map(({ text }) => text)).toEqual([
    'one',
    'two',
  ]);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(await world.events()).toEqual(['call.started', 'call.ended']);
});

test('CallSession lets the call go when the database refuses for a minute, and still writes later', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();

  world.isDiskFull = true;
  leg.release({ kind: 'far-end' });
  await settle();
  world.store.clock.advance(60_000);
  await over;
  const sizeWhenLetGo = world.registry.size;
  world.isDiskFull = false;
  await world.store.clock.pass(1000);
  await settle();

  expect(sizeWhenLetGo).toBe(0);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
});

test('CallSession transfers to a number of others, and refuses one that rings here', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  const { control } = talk.options;

  await expect(control.transfer(AGENT_NUMBER, '')).rejects.toThrow('would be a loop');
  await control.transfer('+390698765432', 'wants a root canal');
  leg.release({ kind: 'transferred' });
  await over;

  expect(leg.transfers).toEqual(['+390698765432']);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'transferred' });
});

test('CallSession passes on digits that came by SIP INFO', async () => {
  const world = await openCallWorld();
  const { leg, talk } = await world.answered();

  leg.digit('5');

  expect(talk.digits).toEqual(['5']);
});

test('CallSession ends with error when the server ends it', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();

  await world.registry.endAll('the server stops');
  await over;

  expect(leg.hangUps).toBe(1);
  expect(await world.call()).toMatchObject({
    status: 'failed',
    endReason: 'error',
    failureReason: 'The server ended the call: the server stops.',
  });
});

test('CallSession ends with error when the line breaks', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();

  leg.release({ kind: 'broken', reason: 'no audio comes' });
  await over;

  expect(await world.call()).toMatchObject({
    status: 'failed',
    endReason: 'error',
    failureReason: 'The line was lost: no audio comes.',
  });
});

test('CallSession hangs up at once, with its record, when the agent cannot speak', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  const leg = new ScriptedLeg();
  world.onTalk = () => {
    throw new Error('Cannot listen: the listening thread is gone');
  };

  incoming.connect(leg);
  await world.router.take(incoming);

  expect(leg.hangUps).toBe(1);
  expect(await world.call()).toMatchObject({ status: 'failed', endReason: 'error' });
  expect(await world.events()).toEqual(['call.started', 'call.ended']);
  expect(world.registry.size).toBe(0);
});

test('CallSession ends the record though the talk cannot be stopped', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();

  talk.stop = () => Promise.reject(new Error('the thread is gone'));
  leg.release({ kind: 'far-end' });
  await over;

  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(world.counted).toContain('ended inbound user_hangup 0');
});

test('CallSession does not go on talking when the caller was gone before the agent could speak', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  const leg = new ScriptedLeg();
  const deeds: string[] = [];
  world.onTalk = (options) => {
    const talk = new ScriptedTalk(options);
    talk.start = () => void deeds.push('start');
    talk.stop = async () => void deeds.push('stop');
    return talk;
  };

  leg.release({ kind: 'far-end' });
  incoming.connect(leg);
  await world.router.take(incoming);

  expect(deeds).toEqual(['start', 'stop']);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
});

test('CallSession counts the packets of the call when it is over', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();

  leg.release({ kind: 'far-end' });
  await over;

  expect(world.counted).toContain('audio 100');
});

test('CallSession counts a call whose caller fell silent, and no other failure of a conversation', async () => {
  const end = { kind: 'failed', reason: 'no audio comes from the far end' } as const;
  const silent = await openCallWorld();
  const broken = await openCallWorld();

  const worlds = [[silent, true] as const, [broken, false] as const];
  for (const [world, isSilentLine] of worlds) {
    const { talk, over } = await world.answered();
    talk.say({ kind: 'ended', end: { ...end, isSilentLine } });
    await over;
  }

  expect((await silent.call()).failureReason).toBe(
    'The conversation could not go on: no audio comes from the far end.',
  );
  expect(silent.counted.filter((line) => line.startsWith('silent'))).toHaveLength(1);
  expect(broken.counted.filter((line) => line.startsWith('silent'))).toEqual([]);
});
