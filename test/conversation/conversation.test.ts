/** A conversation as a whole, from the greeting to its end, on a fake clock. */
import { expect, test } from 'vitest';
import { calls, says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

test('Conversation greets, listens and answers', async () => {
  const table = layTable();
  table.model.answers = [says('We open at nine. We close at five.')];

  table.conversation.start();
  await table.pass(1000);
  await table.hear('What are your opening hours?', 1500);
  await table.pass(5000);

  expect(table.transcript()).toEqual([
    'agent: Hello.',
    'user: What are your opening hours?',
    'agent: We open at nine. We close at five.',
  ]);
});

test('Conversation answers as soon as the turn is over when the models are quick', async () => {
  const table = layTable(
    {},
    { timing: { silenceMsMin: 200, silenceMsMax: 200, questionMs: 200, statementMs: 200 } },
  );
  table.listener.tookMs = 40;
  table.synthesizer.tookMs = 10;
  table.model.answers = [says('Nine.')];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('What are your opening hours?', 1500);
  await table.pass(2000);

  expect(table.turns()[0]?.endOfTurnMs).toBe(200);
  // 60 of silence, 40 of recognition, 120 and 10 of the model, 10 of synthesis.
  expect(table.turns()[0]?.firstPacketMs).toBe(240);
  expect(table.conversation.speculationFigures).toEqual({ hits: 1, misses: 0 });
});

test('Conversation runs its stages one after the other when it may not think ahead', async () => {
  const timing = { silenceMsMin: 200, silenceMsMax: 200, questionMs: 200, statementMs: 200 };
  const table = layTable({}, { maySpeculate: false, timing });
  table.model.answers = [says('Nine o’clock')];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('When do you open?', 600);
  await table.pass(2000);

  // 200 of silence, 80 of recognition, 120 to the first word, 10 a word, 60 of synthesis.
  expect(table.turns()[0]).toMatchObject({
    endOfTurnMs: 200,
    firstTokenMs: 400,
    firstPacketMs: 480,
  });
});

test('Conversation plays the farewell to its end before it hangs up', async () => {
  const table = layTable();
  table.model.answers = [[...says('Goodbye, and thank you.'), calls('end_call')]];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('That is all.', 800);
  await table.pass(1700);
  const endWhilePlaying = table.end();
  await table.pass(2000);

  expect(endWhilePlaying).toBeUndefined();
  expect(table.end()).toEqual({ kind: 'agent-hangup' });
  expect(table.line.played.at(-1)).toMatchObject({ isComplete: true });
});

test('Conversation hands the caller over after telling them', async () => {
  const table = layTable();
  table.model.answers = [[calls('transfer_call', { destination: 'sales' })]];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Can I speak to a person?', 1000);
  await table.pass(6000);

  expect(table.transfers).toEqual(['+390612345678']);
  expect(table.transcript().at(-1)).toBe('agent: One moment, please. I am connecting you.');
  expect(table.end()).toEqual({ kind: 'transferred' });
});

test('Conversation goes on after a transfer that was refused', async () => {
  const refuse = () => Promise.reject(new Error('486'));
  const control = {
    transfer: refuse,
    bringIn: refuse,
    sendDigits: () => undefined,
    appointmentBooked: () => undefined,
  };
  const table = layTable({}, { control });
  table.model.answers = [
    [calls('transfer_call', { destination: 'sales' })],
    says('I am sorry, nobody is there.'),
  ];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Can I speak to a person?', 1000);
  await table.pass(6000);

  expect(table.end()).toBeUndefined();
  expect(table.transcript().at(-1)).toBe('agent: I am sorry, nobody is there.');
  expect(table.model.requests.at(-1)?.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: 'Not done: it was refused or failed. Tell the caller that it did not work.',
  });
});

test.each([
  [calls('transfer_call', { destination: 'sales' }), 'transfer_call', 'done'],
  [calls('transfer_call', { destination: '+390611111111' }), 'transfer_call', 'refused'],
  [calls('the card is 4111 1111'), 'unknown', 'refused'],
] as const)('Conversation tells which tool has run, and whether it has done something: %o', async (use, name, outcome) => {
  const table = layTable();
  table.model.answers = [[use]];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Put me through, please.', 1500);
  await table.pass(6000);

  expect(table.events).toContainEqual({ kind: 'tool', name, outcome, tookMs: 0 });
});

test('Conversation gives way to words, keeps what was heard, and plays nothing stale', async () => {
  const table = layTable();
  table.model.answers = [
    says('We are open from nine until five from Monday to Friday.'),
    says('Forty dollars.'),
  ];
  table.conversation.start();
  await table.pass(1000);
  await table.hear('What are your opening hours?', 1500);
  await table.pass(2000);

  await table.hear('How much does it cost?', 1200);
  await table.pass(3000);

  const heard = table.transcript()[2];
  expect(heard).toMatch(/^agent: We are open from/);
  expect(heard).not.toContain('Friday');
  expect(table.events).toContainEqual({ kind: 'barge-in' });
  expect(table.turns()[1]?.bargeInMs).toBe(60);
  expect(table.line.played.map(({ isComplete }) => isComplete)).toEqual([true, false, true]);
});

test('Conversation stops the model and the voice of a reply that is interrupted', async () => {
  const table = layTable();
  table.model.answers = [says(`So. ${'And then. '.repeat(60)}`), says('Yes?')];
  table.conversation.start();
  await table.pass(1000);
  await table.hear('Tell me everything.', 800);
  await table.pass(600);

  await table.hear('Stop talking right now, please.', 1500);
  await table.pass(2000);

  expect(table.model.aborted).toBeGreaterThan(0);
  expect(table.transcript().at(-1)).toBe('agent: Yes?');
});

test('Conversation listens to the voice detector of its listener, if there is one, and not to that of the audio stream', async () => {
  const table = layTable({}, { hasVoiceDetector: true });
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Only loud.', 600);
  await table.pass(500);
  const requestsByLine = table.listener.requests;
  table.listener.emit({ kind: 'voice-started', atMs: table.clock.nowMs() });
  table.listener.emit({ kind: 'voice-stopped', lastVoicedAtMs: table.clock.nowMs() });
  await table.pass(500);

  expect([requestsByLine, table.listener.requests]).toEqual([0, 1]);
});

test('Conversation plays on when the line paused for a noise that is no voice', async () => {
  const table = layTable(
    { greeting: 'Hello, this is the dental practice.' },
    { hasVoiceDetector: true },
  );
  table.conversation.start();
  await table.pass(500);

  await table.hear('', 100);
  const isPausedAtOnce = !table.line.isPlaying;
  await table.pass(400);

  expect(isPausedAtOnce).toBe(true);
  expect(table.line.isPlaying).toBe(true);
});

test('Conversation takes keys from the line and from signalling alike', async () => {
  const table = layTable();
  table.model.answers = [says('Thank you.')];
  table.conversation.start();
  await table.pass(1000);

  table.line.emit({ kind: 'digit', digit: '4', durationMs: 100 });
  table.conversation.digit('2');
  table.conversation.digit('#');
  await table.pass(2000);

  expect(table.transcript()).toContain('user: (pressed 4 2)');
});

test('Conversation reports what was heard when it is stopped, and then leaves nothing behind', async () => {
  const table = layTable({ greeting: 'Hello, this is the dental practice of Market Square.' });
  table.conversation.start();
  await table.pass(1500);

  table.conversation.stop();
  table.conversation.stop();
  const { waiting } = table.clock;
  await table.pass(5000);

  expect(table.transcript()).toEqual(['agent: Hello, this is the']);
  expect(table.end()).toBeUndefined();
  expect(waiting).toBe(0);
});

test('Conversation that is stopped before it starts never says a word', async () => {
  const table = layTable();

  table.conversation.stop();
  table.conversation.start();
  await table.pass(1000);

  expect(table.synthesizer.spoken).toEqual([]);
});

test('Conversation may be stopped from within its own report that it has ended', async () => {
  const table = layTable(
    { silenceTimeoutMs: 1000 },
    {
      onEvent: (event) => {
        ends.push(event.kind);
        if (event.kind === 'ended') table.conversation.stop();
      },
    },
  );
  const ends: string[] = [];

  table.conversation.start();
  await table.pass(8000);

  expect(ends.filter((kind) => kind === 'ended')).toHaveLength(1);
});
