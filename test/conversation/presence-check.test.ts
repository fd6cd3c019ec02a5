/** A caller who asks whether the agent is still there while it works. */
import { expect, test } from 'vitest';
import { isPresenceCheck } from '../../src/conversation/turn/presence-check.ts';
import { ask, hearWhole, kindsOf, openTurns, PHRASES, saidBy, voicedBy } from './support/turns.ts';

const CALL = { id: 'a', name: 'book', arguments: {} };

/** A tool runs since 3100 ms, and has been bridged. */
function runTool() {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  turns.take(3100, { kind: 'tool-called', reply, call: CALL });
  turns.take(3100, { kind: 'model-finished', reply });
  turns.take(3600, { kind: 'timer', timer: 'filler' });
  turns.take(3600, { kind: 'voiced', reply, clause: 0, audioMs: 900, isWhole: true });
  turns.take(3600, { kind: 'playout-started', reply, startedAtMs: 3600 });
  return { ...turns, reply };
}

type Turns = Pick<ReturnType<typeof openTurns>, 'take' | 'state'>;

/** The caller says something from `fromMs` on for 1.4 s; it interrupts where it can. @returns all effects. */
function interject(turns: Turns, text: string, fromMs: number) {
  return [
    ...turns.take(fromMs, { kind: 'voice-started', voicedAtMs: fromMs }),
    ...turns.take(fromMs + 900, { kind: 'timer', timer: 'barge-in' }),
    ...turns.take(fromMs + 1400, { kind: 'voice-stopped', lastVoicedAtMs: fromMs + 1400 }),
    ...turns.take(fromMs + 1500, {
      ...{ kind: 'transcribed', attempt: turns.state().utterance?.attempt ?? 0 },
      ...{ text, confidence: 0.9 },
    }),
  ];
}

test('"are you still there?" while a tool runs is answered at once, and the tool goes on', () => {
  const { take, state, reply } = runTool();

  const effects = interject({ take, state }, 'Hello? Are you still there?', 5000);
  const finished = take(8000, {
    ...{ kind: 'tool-finished', reply, call: CALL, outcome: { text: 'Booked.' } },
  });

  expect(voicedBy(effects)).toEqual([PHRASES.stillHere]);
  expect(saidBy(effects)).toEqual(['Hello? Are you still there?']);
  expect(kindsOf(effects)).not.toContain('drop');
  expect(kindsOf(finished)).toContain('ask');
  expect(JSON.stringify(state().reply?.exchange)).toContain('Booked.');
});

test('the phrase that bridges the tool does not follow on that answer at once', () => {
  const { take, state } = runTool();

  const effects = interject({ take, state }, 'Hello?', 5000);

  expect(effects).toContainEqual({ kind: 'set-timer', timer: 'filler', delayMs: 5000 });
});

test('asked again within three seconds, the agent does not repeat itself', () => {
  const { take, state, reply } = runTool();
  interject({ take, state }, 'Hello?', 5000);
  take(6500, { kind: 'voiced', reply, clause: 1, audioMs: 1800, isWhole: true });

  const soon = interject({ take, state }, 'Are you there?', 7000);
  const later = interject({ take, state }, 'Can you hear me?', 12_000);

  expect(voicedBy(soon)).toEqual([]);
  expect(voicedBy(later)).toEqual([PHRASES.stillHere]);
});

test('the beginning of such a question at a pause does not stop the tool', () => {
  const { take, state } = runTool();

  const effects = interject({ take, state }, 'Are you', 5000);

  expect(voicedBy(effects)).toEqual([]);
  expect(state().reply?.isToolRunning).toBe(true);
});

test('a noise of any length does not stop the tool', () => {
  const { take, state } = runTool();

  interject({ take, state }, '', 5000);

  expect(state().reply?.isToolRunning).toBe(true);
});

test.each([
  'Stop, cancel that.',
  'No, wait.',
  'What does that cost?',
])('%j stops the tool, and the model learns that it is unknown what came of it', (text) => {
  const { take, state } = runTool();

  const effects = interject({ take, state }, text, 5000);
  const ended = take(8000, { kind: 'timer', timer: 'end-of-turn' });

  expect(kindsOf(effects)).toContain('drop');
  expect(kindsOf([...effects, ...ended])).toContain('ask');
  expect(JSON.stringify(state().history)).toContain('Broken off');
});

test('a tool that was stopped, and was done all the same, is no longer unknown to the model', () => {
  const { take, state } = runTool();
  interject({ take, state }, 'Stop, cancel that.', 5000);

  take(8000, { kind: 'tool-settled', call: CALL, outcome: { text: 'Booked for Monday.' } });

  expect(JSON.stringify(state().history)).not.toContain('Broken off');
  expect(state().history.find(({ role }) => role === 'tool')?.content).toContain(
    'Booked for Monday.',
  );
});

test('a caller who goes on speaking while another party is called: the model knows that it still rings', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  turns.take(3100, { kind: 'tool-called', reply, call: { ...CALL, name: 'transfer_call' } });
  turns.take(3100, { kind: 'model-finished', reply });
  turns.take(3200, { kind: 'voiced', reply, clause: 0, audioMs: 900, isWhole: true });
  turns.take(3200, { kind: 'playout-started', reply, startedAtMs: 3200 });
  turns.take(4100, { kind: 'playout-finished', reply, playedMs: 900, isComplete: true });
  turns.take(4200, { kind: 'transfer-pending', isUnderWay: true });

  interject(turns, 'What are your hours?', 6000);

  const told = turns.state().history.find(({ role }) => role === 'tool')?.content;
  expect(told).toContain('still being called');
});

test('"hello?" while the model thinks does not make it begin again', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  turns.take(4500, { kind: 'model-waits', reply, waitedMs: 1500 });
  turns.take(4600, { kind: 'voiced', reply, clause: 0, audioMs: 900, isWhole: true });
  turns.take(4600, { kind: 'playout-started', reply, startedAtMs: 4600 });
  turns.take(6000, { kind: 'voice-started', voicedAtMs: 6000 });
  turns.take(6600, { kind: 'voice-stopped', lastVoicedAtMs: 6600 });
  const attempt = turns.state().utterance?.attempt ?? 0;

  const effects = turns.take(6700, {
    ...{ kind: 'transcribed', attempt, text: 'Hello?', confidence: 0.95 },
  });

  expect(voicedBy(effects)).toEqual([PHRASES.stillHere]);
  expect(turns.replyId()).toBe(reply);
});

test('an answer in words is interrupted by such a question as by any', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  turns.take(3100, { kind: 'clause', reply, text: 'We open at nine every day.' });
  turns.take(3200, { kind: 'voiced', reply, clause: 0, audioMs: 4000, isWhole: true });
  turns.take(3200, { kind: 'playout-started', reply, startedAtMs: 3200 });

  const effects = interject(turns, 'Are you there?', 4000);

  expect(kindsOf(effects)).toContain('drop');
});

test.each([
  'Hello?',
  'Hello, is anybody there?',
  'Are you still there?',
  'Can you hear me?',
  'Hallo? Sind Sie noch da?',
  'Hören Sie mich noch?',
  '¿Sigue usted ahí?',
  '¿Hola? ¿Me oye?',
  'Allô, vous êtes toujours là ?',
  'Pronto? È ancora lì?',
  'Alô, está aí?',
  'もしもし',
  '喂，你还在吗？',
  'हैलो, आप सुन रहे हैं?',
])('isPresenceCheck takes %j for one', (text) => {
  expect(isPresenceCheck(text)).toBe('whole');
});

test.each([
  '',
  'Stop.',
  'Is there a doctor there?',
  'Hello, I would like to book.',
  'Can you hear the noise?',
  'Sind Sie morgen da?',
  'No',
])('isPresenceCheck takes %j for none', (text) => {
  expect(isPresenceCheck(text)).toBe('none');
});

test('a reply that was held while the caller asked is heard afterwards', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  turns.take(3100, { kind: 'tool-called', reply, call: CALL });
  turns.take(3100, { kind: 'model-finished', reply });

  const effects = interject(turns, 'Hello?', 3200);
  turns.take(4800, { kind: 'tool-finished', reply, call: CALL, outcome: { text: 'Booked.' } });
  turns.take(5000, { kind: 'clause', reply, text: 'It is booked.' });
  turns.take(5000, { kind: 'model-finished', reply });
  hearWhole(turns, 5100, 7100);

  expect(kindsOf(effects)).toEqual(expect.arrayContaining(['hold', 'release']));
  expect(turns.state().history.at(-1)?.content).toBe('It is booked.');
});
