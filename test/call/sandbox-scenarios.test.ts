/** Every party of the sandbox, from the queue to the record, by the real session, conversation and store. */
import { expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import { openSandboxWorld, type SandboxWorld } from './support/sandbox-world.ts';

const SPEED = 10;

/** What the decisions promise: a whole call within about five seconds of the request. */
const CALL_MS_MAX = 5000 * SPEED;

const LINE_RATE_HZ = 8000;

async function called(to: string, world?: SandboxWorld) {
  const on = world ?? (await openSandboxWorld());
  const id = await on.queue({ to });
  on.sandbox.start();
  await on.untilOver(id);
  const call = await on.call(id);
  const lengthMs = (call.endedAt?.getTime() ?? 0) - call.createdAt.getTime();
  return { world: on, id, call, lengthMs };
}

test.each([
  ['00', 'failed', 'no_answer', ['call.ended']],
  ['01', 'failed', 'busy', ['call.ended']],
  ['02', 'completed', 'user_hangup', ['call.started', 'call.ended']],
  ['03', 'completed', 'timeout', ['call.started', 'call.ended']],
  ['04', 'completed', 'transferred', ['call.started', 'call.bridged', 'call.ended']],
  ['05', 'completed', 'user_hangup', ['call.started', 'appointment.booked', 'call.ended']],
  ['06', 'failed', 'error', ['call.started', 'call.ended']],
  ['07', 'completed', 'agent_hangup', ['call.started', 'call.ended']],
  ['08', 'completed', 'user_hangup', ['call.started', 'call.ended']],
  ['99', 'completed', 'user_hangup', ['call.started', 'call.ended']],
])('the party of a number that ends in %s: %s, %s', async (digits, status, endReason, kinds) => {
  const { world, id, call, lengthMs } = await called(`+120255501${digits}`);

  expect(call).toMatchObject({ status, endReason });
  expect(await world.kinds(id)).toEqual(kinds);
  expect(lengthMs).toBeLessThan(CALL_MS_MAX);
});

test('the friendly party talks for three turns, with confidence on its words alone', async () => {
  const { world, id } = await called('+12025550199');

  const entries = await world.store.calls.transcript(id);

  expect(entries.map(({ role }) => role)).toEqual([
    'agent',
    'user',
    'agent',
    'user',
    'agent',
    'user',
    'agent',
  ]);
  expect(entries.map(({ confidence }) => confidence)).toEqual([
    undefined,
    0.95,
    undefined,
    0.95,
    undefined,
    0.95,
    undefined,
  ]);
  expect(entries[0]?.text).toBe('Hello, how can I help?');
  expect((await world.store.calls.timeline(id)).map(({ kind }) => kind)).toEqual([
    'answered',
    'turn',
    'answered_by',
    'turn',
    'turn',
    'ended',
  ]);
});

test('a simulated call has a recording as long as itself, with both sides on it', async () => {
  const { world, id, call } = await called('+12025550199');

  const recording = await world.recording(id);

  const talkedMs = (call.endedAt?.getTime() ?? 0) - (call.answeredAt?.getTime() ?? 0);
  const recordedMs = ((recording?.left.length ?? 0) * 1000) / LINE_RATE_HZ;
  expect(Math.abs(recordedMs - talkedMs)).toBeLessThan(200);
  expect(recording?.left.some((sample) => sample !== 0)).toBe(true);
  expect(recording?.right.some((sample) => sample !== 0)).toBe(true);
});

test('a simulated call begins at the request, and its end lies ahead of the clock', async () => {
  const { world, call } = await called('+12025550199');

  expect(call.startedAt).toEqual(call.createdAt);
  expect(call.endedAt?.getTime()).toBeGreaterThan(world.store.clock.nowMs());
  expect(call.carrierCallSid).toMatch(/@sandbox\.invalid$/);
});

test.each([
  [[], '+15005550199'],
  [[{ label: 'sales', number: '+390612345678' }], '+390612345678'],
])('the party that asks for a person is transferred if the targets are %o', async (transferTargets, bridgedTo) => {
  const world = await openSandboxWorld({ settings: { transferTargets } });
  const { id } = await called('+12025550104', world);

  expect(await world.event(id, 'call.bridged')).toEqual({
    callId: id,
    bridgedTo,
    bridgedAt: expect.any(String),
    qualificationSummary: 'The caller has a question about a contract and asked for a person.',
    agentRole: 'left',
  });
});

test('the party that books gets half an hour at ten the next day, under its own number', async () => {
  const { world, id, call } = await called('+12025550105');

  expect(await world.event(id, 'appointment.booked')).toEqual({
    callId: id,
    agentId: call.agentId,
    appointment: {
      id: expect.stringMatching(/^appt_/),
      title: 'Consultation',
      startTime: '2026-11-21T10:00:00.000Z',
      endTime: '2026-11-21T10:30:00.000Z',
      attendeeName: 'Alex Morgan',
      attendeePhone: '+12025550105',
      calendarId: 'sandbox',
      confirmed: true,
    },
  });
  expect((await world.store.calls.transcript(id)).map(({ text }) => text)).toContain('(pressed 1)');
});

test('the silent party is asked once whether it is there, after the silence time-out of the agent', async () => {
  const world = await openSandboxWorld({ settings: { silenceTimeoutSeconds: 4 } });
  const { id, call } = await called('+12025550103', world);

  expect((await world.store.calls.transcript(id)).map(({ text }) => text)).toEqual([
    'Hello, how can I help?',
    'Are you still there?',
  ]);
  expect(call.durationSeconds).toBeLessThan(13);
});

test('the mailbox speaks over the greeting, and the agent leaves a message after the tone', async () => {
  const { world, id } = await called('+12025550107');

  const [greeting, announcement, message] = await world.store.calls.transcript(id);
  const kinds = (await world.store.calls.timeline(id)).map(({ kind }) => kind);

  expect('Hello, how can I help?'.startsWith(greeting?.text ?? 'none')).toBe(true);
  expect(announcement?.role).toBe('user');
  expect(message?.text).toContain('I will call again tomorrow');
  expect(kinds).toContain('barge_in');
});

test.each([
  ['continue', null, true],
  ['hang_up', null, false],
  ['leave_message', 'Please call us back.', true],
] as const)('the mailbox is a machine, and the agent obeys voicemail %s', async (action, message, hasSpoken) => {
  const world = await openSandboxWorld({ settings: { voicemail: { action, message } } });
  const { id, call } = await called('+12025550107', world);

  const entries = await world.store.calls.transcript(id);
  const agentSaid = entries.filter(({ role }) => role === 'agent').map(({ text }) => text);
  const timeline = await world.store.calls.timeline(id);
  const ended = await world.event(id, 'call.ended');

  expect(call).toMatchObject({ answeredBy: 'machine', endReason: 'agent_hangup' });
  expect(ended).toMatchObject({ answeredBy: 'machine' });
  expect(timeline).toContainEqual(
    expect.objectContaining({
      kind: 'answered_by',
      details: { answeredBy: 'machine', sign: 'words', afterMs: expect.any(Number) },
    }),
  );
  expect(agentSaid.length > 0).toBe(hasSpoken);
  if (message !== null) expect(agentSaid).toEqual([message]);
});

test('the message is left after the tone of the mailbox, and is heard whole', async () => {
  const voicemail = { action: 'leave_message', message: 'Please call us back.' } as const;
  const world = await openSandboxWorld();
  const id = await world.queue({ to: '+12025550107', overrides: { voicemail } });
  world.sandbox.start();
  await world.untilOver(id);

  const recording = await world.recording(id);

  const last = (track: Int16Array | undefined) => track?.findLastIndex((sample) => sample !== 0);
  const firstOfAgent = recording?.right.findIndex((sample) => sample !== 0) ?? 0;
  expect(firstOfAgent).toBeGreaterThan(last(recording?.left) ?? 0);
});

test('the call of an agent that screens its calls goes on with a person', async () => {
  const voicemail = { action: 'hang_up', message: null } as const;
  const world = await openSandboxWorld({ settings: { voicemail } });
  const { call } = await called('+12025550199', world);

  expect(call).toMatchObject({ answeredBy: 'human', endReason: 'user_hangup' });
});

test.each(['04', '05'])('party %s is a person, however short the greeting is', async (digits) => {
  const world = await openSandboxWorld({ agent: { greeting: 'Hello' } });
  const { call } = await called(`+120255501${digits}`, world);

  expect(call).toMatchObject({ answeredBy: 'human', status: 'completed' });
});

test('a long greeting is interrupted, and one that may not be interrupted is heard to its end', async () => {
  const greeting = 'Welcome to the dentist of the market square. '.repeat(10).trim();
  const patient = await openSandboxWorld({
    agent: { greeting },
    settings: { interruptible: false },
  });
  const rude = await openSandboxWorld({ agent: { greeting } });

  const whole = await called('+12025550199', patient);
  const cut = await called('+12025550199', rude);

  const greetingOf = async (world: SandboxWorld, call: Call) =>
    (await world.store.calls.transcript(call.id))[0];
  expect((await greetingOf(patient, whole.call))?.text).toBe(greeting);
  expect((await greetingOf(rude, cut.call))?.text.length).toBeLessThan(greeting.length);
  expect([whole.call.endReason, cut.call.endReason]).toEqual(['user_hangup', 'user_hangup']);
});

test('overrides of the call go before the agent', async () => {
  const world = await openSandboxWorld();
  const id = await world.queue({ to: '+12025550102', overrides: { greeting: 'Hi' } });
  world.sandbox.start();

  await world.untilOver(id);

  expect(world.synthesizer.asked.map(({ text }) => text)).toContain('Hi');
});

test.each([1, 4, 50])('a simulated call comes to the same end at speed %d', async (speed) => {
  const environment = { SANDBOX_SPEED: String(speed) };
  const world = await openSandboxWorld({ environment });
  const { call, id } = await called('+12025550105', world);

  expect(call.endReason).toBe('user_hangup');
  expect(await world.kinds(id)).toContain('appointment.booked');
});

test.each([10, 12, 15, 20])('no call lasts longer than its maximum of %d s', async (seconds) => {
  const world = await openSandboxWorld({ settings: { silenceTimeoutSeconds: 60 } });
  const overrides = { maxDurationSeconds: seconds };
  const id = await world.queue({ to: '+12025550103', overrides });
  world.sandbox.start();

  await world.untilOver(id);

  const { endReason, durationSeconds } = await world.call(id);
  expect({ endReason, durationSeconds }).toEqual({
    endReason: 'timeout',
    durationSeconds: expect.any(Number),
  });
  expect(durationSeconds).toBeLessThanOrEqual(seconds);
  expect((await world.store.calls.transcript(id)).at(-1)?.text).toContain('our time is up');
});

test('the timeline tells of keys and tools', async () => {
  const { world, id } = await called('+12025550105');

  const entries = await world.store.calls.timeline(id);

  expect(entries).toContainEqual(expect.objectContaining({ kind: 'digit', details: {} }));
  expect(entries.find(({ kind }) => kind === 'tool')?.details).toEqual({
    name: 'book_appointment',
    outcome: 'done',
    tookMs: expect.any(Number),
  });
});

test.each([
  ['no_answer', 'no_answer'],
  ['friendly', 'user_hangup'],
])('a caller "%s" who rings in has rung on the timeline, and has ended', async (scenario, endReason) => {
  const world = await openSandboxWorld();
  const id = await world.queue({ direction: 'inbound', from: '+12025550199', scenario });
  world.sandbox.start();

  await world.untilOver(id);

  const entries = await world.store.calls.timeline(id);
  expect(entries[0]).toMatchObject({ kind: 'ringing' });
  expect(entries.at(-1)).toMatchObject({ kind: 'ended', details: { endReason } });
});
