/** The turn machine when a model, a voice or the recogniser fails, and when the call is closed. */
import { expect, test } from 'vitest';
import { BRIEF } from './support/table.ts';
import {
  ask,
  hearWhole,
  kindsOf,
  openTurns,
  PHRASES,
  saidBy,
  say,
  startTurns,
  think,
  voicedBy,
  waitsFor,
} from './support/turns.ts';

const REPLY = { kind: 'timer', timer: 'reply' } as const;

test('an answer begun ahead that fails is dropped without a word', () => {
  const turns = openTurns();
  say(turns, 'What are your hours?', 1000, 2000);

  const effects = turns.take(2010, { kind: 'model-failed', reply: turns.replyId() });

  expect(kindsOf(effects)).toContain('drop');
  expect(kindsOf(effects)).not.toContain('voice');
  expect(turns.state()).toMatchObject({ reply: null, failures: 0, isOwedAnswer: false });
});

test('an answer that fails while the caller speaks again is begun again after a mere noise', () => {
  const turns = openTurns();
  ask(turns, 3000);
  turns.take(3100, { kind: 'voice-started', voicedAtMs: 3100 });

  const failed = turns.take(3200, { kind: 'model-failed', reply: turns.replyId() });
  turns.take(3300, { kind: 'voice-stopped', lastVoicedAtMs: 3300 });
  const attempt = turns.state().utterance?.attempt ?? 0;
  const noise = turns.take(3400, { kind: 'transcribed', attempt, text: '', confidence: 1 });

  expect(kindsOf(failed)).toContain('drop');
  expect(kindsOf(noise)).toContain('ask');
});

test('an answer that a long noise interrupts before it was heard is begun again', () => {
  const turns = openTurns();
  ask(turns, 3000);
  turns.take(3100, { kind: 'voice-started', voicedAtMs: 3100 });
  turns.take(3900, { kind: 'timer', timer: 'barge-in' });
  turns.take(4000, { kind: 'voice-stopped', lastVoicedAtMs: 4000 });
  const attempt = turns.state().utterance?.attempt ?? 0;

  const noise = turns.take(4100, { kind: 'transcribed', attempt, text: '', confidence: 1 });

  expect(kindsOf(noise)).toContain('ask');
});

test('a greeting that a long noise interrupts before it was heard is owed no answer', () => {
  const turns = startTurns();
  turns.take(100, { kind: 'voice-started', voicedAtMs: 100 });
  const interrupted = turns.take(900, { kind: 'timer', timer: 'barge-in' });
  turns.take(1000, { kind: 'voice-stopped', lastVoicedAtMs: 1000 });
  const attempt = turns.state().utterance?.attempt ?? 0;

  const noise = turns.take(1100, { kind: 'transcribed', attempt, text: '', confidence: 1 });

  expect(kindsOf(interrupted)).toContain('drop');
  expect(kindsOf(noise)).not.toContain('ask');
});

test('a voice that does not speak is a failure each time, and after the third the call is given up', () => {
  const turns = startTurns();

  const first = turns.take(15_000, REPLY);
  const afterFirst = turns.state();
  ask(turns, 20_000);
  think(turns, 20_100, 'We open at nine.');
  turns.take(35_000, REPLY);
  ask(turns, 40_000);
  think(turns, 40_100, 'We open at nine.');
  const third = turns.take(55_000, REPLY);

  expect(kindsOf(first)).toContain('drop');
  expect(afterFirst).toMatchObject({ reply: null, failures: 1 });
  expect(voicedBy(third)).toEqual([PHRASES.giveUp]);
  expect(turns.state()).toMatchObject({ stage: 'closing', reply: { kind: 'closing' } });
});

test('a voice that makes no sound of a sentence has failed', () => {
  const turns = startTurns();

  turns.take(100, { kind: 'playout-finished', reply: 1, playedMs: 0, isComplete: true });

  expect(turns.state().failures).toBe(1);
});

/** The model answers, and the voice makes no sound of it, from `atMs` on. @returns the effects of the end of the reply. */
function answerWithoutSound(turns: ReturnType<typeof startTurns>, atMs: number) {
  ask(turns, atMs);
  think(turns, atMs + 100, '你好。');
  const reply = turns.replyId();
  turns.take(atMs + 200, { kind: 'voiced', reply, clause: 0, audioMs: 0, isWhole: true });
  const ended = { kind: 'playout-finished', reply, playedMs: 0, isComplete: true } as const;
  return turns.take(atMs + 200, ended);
}

test('an answer without sound is apologised for, and after the third the call is given up', () => {
  const turns = openTurns();

  const first = answerWithoutSound(turns, 3000);
  hearWhole(turns, 3300, 4300);
  const second = answerWithoutSound(turns, 8000);
  hearWhole(turns, 8300, 9300);
  const third = answerWithoutSound(turns, 13_000);

  const { apology, giveUp } = PHRASES;
  expect([first, second, third].map(voicedBy)).toEqual([[apology], [apology], [giveUp]]);
});

test('an apology without sound is not followed by another', () => {
  const turns = openTurns();
  answerWithoutSound(turns, 3000);
  const reply = turns.replyId();
  turns.take(3300, { kind: 'voiced', reply, clause: 0, audioMs: 0, isWhole: true });

  const effects = turns.take(3300, {
    ...{ kind: 'playout-finished', reply, playedMs: 0, isComplete: true },
  });

  expect(voicedBy(effects)).toEqual([]);
});

test('an answer that is heard ends a row of failures', () => {
  const turns = startTurns();
  turns.take(15_000, REPLY);
  ask(turns, 20_000);
  think(turns, 20_100, 'We open at nine.');

  hearWhole(turns, 20_200, 21_200);

  expect(turns.state().failures).toBe(0);
});

test('a reply without a word to two others on the line is no failure of the voice', () => {
  const turns = openTurns();
  turns.take(600, { kind: 'third-party', isThere: true });
  think(turns, 700);
  const reply = turns.replyId();

  turns.take(800, { kind: 'playout-finished', reply, playedMs: 0, isComplete: true });

  expect(turns.state()).toMatchObject({ reply: null, failures: 0 });
});

test('a recogniser that fails while the agent has the floor costs nothing but the words', () => {
  const turns = startTurns();
  turns.take(0, { kind: 'voiced', reply: 1, clause: 0, audioMs: 2000, isWhole: true });
  turns.take(10, { kind: 'playout-started', reply: 1, startedAtMs: 10 });
  turns.take(100, { kind: 'voice-started', voicedAtMs: 100 });
  turns.take(110, { kind: 'playout-paused', reply: 1, playedMs: 100 });
  turns.take(400, { kind: 'voice-stopped', lastVoicedAtMs: 400 });

  const attempt = turns.state().utterance?.attempt ?? 0;
  const effects = turns.take(500, { kind: 'transcription-failed', attempt });

  expect(effects).toContainEqual({ kind: 'resume', reply: 1 });
  expect(turns.state()).toMatchObject({ utterance: null, failures: 0 });
});

/** The caller says something and pauses from 2000 ms on. @returns the attempt to get the words. */
function pausesAt2000(turns: ReturnType<typeof openTurns>): number {
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });
  turns.take(2000, { kind: 'voice-stopped', lastVoicedAtMs: 2000 });
  return turns.state().utterance?.attempt ?? 0;
}

test('a recogniser that fails at a pause is asked again at the end of the turn, and the caller is not talked over', () => {
  const turns = openTurns();
  const attempt = pausesAt2000(turns);

  const failed = turns.take(2100, { kind: 'transcription-failed', attempt });
  const ended = turns.take(3000, { kind: 'timer', timer: 'end-of-turn' });

  expect(voicedBy(failed)).toEqual([]);
  expect(ended).toContainEqual({ kind: 'transcribe', attempt: attempt + 1, priority: 'final' });
  expect(turns.state()).toMatchObject({ failures: 0 });
});

test('a recogniser that fails at the end of the turn is a failure, and the agent says that it has not understood', () => {
  const turns = openTurns();
  const attempt = pausesAt2000(turns);
  turns.take(2100, { kind: 'transcription-failed', attempt });
  turns.take(3000, { kind: 'timer', timer: 'end-of-turn' });

  const effects = turns.take(3100, { kind: 'transcription-failed', attempt: attempt + 1 });

  expect(voicedBy(effects)).toEqual([PHRASES.notUnderstood]);
  expect(turns.state()).toMatchObject({ utterance: null, failures: 1 });
});

test('a recogniser that fails when the turn would be over is not asked again', () => {
  const turns = openTurns();
  const attempt = pausesAt2000(turns);

  const effects = turns.take(7000, { kind: 'transcription-failed', attempt });

  expect(voicedBy(effects)).toEqual([PHRASES.notUnderstood]);
});

/** A sound of 0.9 s without words, which stops the agent. @returns the effects of its having been none. */
function stopByNoise(turns: ReturnType<typeof startTurns>, fromMs: number) {
  turns.take(fromMs, { kind: 'voice-started', voicedAtMs: fromMs });
  turns.take(fromMs + 800, { kind: 'timer', timer: 'barge-in' });
  turns.take(fromMs + 900, { kind: 'voice-stopped', lastVoicedAtMs: fromMs + 900 });
  const attempt = turns.state().utterance?.attempt ?? 0;
  return turns.take(fromMs + 1000, { kind: 'transcribed', attempt, text: '', confidence: 1 });
}

test('what a noise has stopped is said again from the clause on that it cut, any other noise is passed over', () => {
  const turns = startTurns();
  turns.take(0, { kind: 'voiced', reply: 1, clause: 0, audioMs: 5000, isWhole: true });
  turns.take(10, { kind: 'playout-started', reply: 1, startedAtMs: 10 });

  const stopping = stopByNoise(turns, 100);
  hearWhole(turns, 1200, 2200);
  const other = say(turns, '', 3000, 3500);

  expect(voicedBy(stopping)).toEqual(['Hello.']);
  expect(turns.state().failures).toBe(0);
  expect(voicedBy(other)).toEqual([]);
});

test('a noise before the first sound of the greeting does not cost the greeting', () => {
  const turns = startTurns();

  expect(voicedBy(stopByNoise(turns, 100))).toEqual(['Hello.']);
});

test('a noise that has stopped an answer of which the model had more to say is asked about', () => {
  const turns = openTurns();
  ask(turns, 1000);
  turns.take(1200, { kind: 'clause', reply: turns.replyId(), text: 'We open at nine.' });
  const reply = turns.replyId();
  turns.take(1300, { kind: 'voiced', reply, clause: 0, audioMs: 5000, isWhole: true });
  turns.take(1310, { kind: 'playout-started', reply, startedAtMs: 1310 });

  expect(voicedBy(stopByNoise(turns, 2000))).toEqual([PHRASES.notUnderstood]);
});

test.each([
  ['its time is up', { kind: 'timer', timer: 'time-is-up' }],
  ['it is stopped', { kind: 'stopped' }],
] as const)('words of a turn that is not over go into the transcript when %s', (_, event) => {
  const turns = openTurns();
  say(turns, 'I would like to', 1000, 2000);

  const effects = turns.take(2050, event);

  expect(saidBy(effects)).toEqual(['I would like to']);
  expect(kindsOf(effects)).toContain('stop-listening');
  expect(turns.state().utterance).toBeNull();
});

test.each([
  ['silence', []],
  ['closing', ['close', 'emit']],
  ['max-duration', ['close', 'emit']],
] as const)('while the closing sentence is said, the wait "%s" does %j', (timer, expected) => {
  const turns = openTurns();
  turns.take(1000, { kind: 'timer', timer: 'time-is-up' });

  const effects = turns.take(2000, { kind: 'timer', timer });

  expect(kindsOf(effects).filter((kind) => kind === 'close' || kind === 'emit')).toEqual(expected);
});

test('a call shorter than the lead says that its time is up after two fifths of it', () => {
  const { started } = startTurns({ brief: { ...BRIEF, maxDurationMs: 5000 } });

  expect(waitsFor('time-is-up', started)).toEqual([2000]);
});

test('a model that is slow is bridged with a word after 1.5 s, once, and with a sentence after 5 s', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  const wait = (waitedMs: number) =>
    voicedBy(turns.take(3000 + waitedMs, { kind: 'model-waits', reply, waitedMs }));

  const early = wait(1250);
  const bridged = wait(1500);
  turns.take(4600, { kind: 'voiced', reply, clause: 0, audioMs: 900, isWhole: true });
  turns.take(4600, { kind: 'playout-started', reply, startedAtMs: 4600 });
  const meanwhile = wait(2000);
  const patient = wait(5000);
  const later = wait(8000);

  expect([early, meanwhile, later]).toEqual([[], [], []]);
  expect([bridged, patient]).toEqual([[PHRASES.filler], [PHRASES.patience]]);
});

test('a model that goes on being slow is bridged again and again, with the long sentence once', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  const wait = (waitedMs: number) =>
    voicedBy(turns.take(3000 + waitedMs, { kind: 'model-waits', reply, waitedMs }));
  wait(1500);
  turns.take(4600, { kind: 'voiced', reply, clause: 0, audioMs: 1500, isWhole: true });
  turns.take(4600, { kind: 'playout-started', reply, startedAtMs: 4600 });
  wait(5000);
  turns.take(8000, { kind: 'voiced', reply, clause: 1, audioMs: 3700, isWhole: true });

  const early = wait(10_750);
  const bridged = wait(11_000);
  turns.take(14_100, { kind: 'voiced', reply, clause: 2, audioMs: 1500, isWhole: true });
  const again = wait(14_500);

  expect([early, bridged, again]).toEqual([[], [PHRASES.filler], [PHRASES.filler]]);
});

test('a second stall of an answer is bridged too', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  const hear = (atMs: number, clause: number, audioMs: number) =>
    turns.take(atMs, { kind: 'voiced', reply, clause, audioMs, isWhole: true });
  const wait = (atMs: number, waitedMs: number) =>
    voicedBy(turns.take(atMs, { kind: 'model-waits', reply, waitedMs }));
  wait(4500, 1500);
  hear(4600, 0, 900);
  turns.take(4600, { kind: 'playout-started', reply, startedAtMs: 4600 });
  turns.take(6000, { kind: 'clause', reply, text: 'Let me see.' });
  hear(6000, 1, 1000);

  const early = wait(8500, 1500);
  const bridged = wait(10_500, 3500);

  expect([early, bridged]).toEqual([[], [PHRASES.patience]]);
});

test('a slow model is never bridged while the caller speaks, nor before their turn is over', () => {
  const turns = openTurns();
  say(turns, 'What are your hours?', 1000, 2000);
  const waits = { kind: 'model-waits', reply: turns.replyId(), waitedMs: 2000 } as const;
  const ahead = turns.take(2100, waits);
  const speaking = openTurns();
  ask(speaking, 3000);
  speaking.take(4000, { kind: 'voice-started', voicedAtMs: 4000 });
  const over = speaking.take(4600, {
    kind: 'model-waits',
    reply: speaking.replyId(),
    waitedMs: 1600,
  });

  expect([voicedBy(ahead), voicedBy(over)]).toEqual([[], []]);
});

test('a model that stalls after its first words is bridged as well, and the model never reads that as its own words', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  turns.take(3100, { kind: 'clause', reply, text: 'Let me see.' });
  turns.take(3200, { kind: 'voiced', reply, clause: 0, audioMs: 1000, isWhole: true });
  turns.take(3200, { kind: 'playout-started', reply, startedAtMs: 3200 });
  const wait = (atMs: number, waitedMs: number) =>
    voicedBy(turns.take(atMs, { kind: 'model-waits', reply, waitedMs }));

  const whileSpeaking = wait(4000, 1600);
  const bridged = wait(5700, 1500);
  turns.take(5700, { kind: 'voiced', reply, clause: 1, audioMs: 900, isWhole: true });
  const patient = wait(9200, 5000);
  turns.take(9200, { kind: 'voiced', reply, clause: 2, audioMs: 3000, isWhole: true });
  turns.take(12_300, { kind: 'clause', reply, text: 'It is nine.' });
  turns.take(12_300, { kind: 'voiced', reply, clause: 3, audioMs: 800, isWhole: true });
  turns.take(12_400, { kind: 'model-finished', reply });
  const over = turns.take(13_200, {
    kind: 'playout-finished',
    ...{ reply, playedMs: 5700, isComplete: true },
  });

  const { filler, patience } = PHRASES;
  expect([whileSpeaking, bridged, patient]).toEqual([[], [filler], [patience]]);
  expect(turns.state().history.at(-1)?.content).toBe('Let me see. It is nine.');
  expect(saidBy(over)).toEqual([`Let me see. ${filler} ${patience} It is nine.`]);
});
