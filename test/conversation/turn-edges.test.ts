/** Where the turn machine draws its lines: what counts, what does not, and from when on. */
import { expect, test } from 'vitest';
import { BRIEF } from './support/table.ts';
import {
  ask,
  hearWhole,
  kindsOf,
  openTurns,
  saidBy,
  say,
  startTurns,
  think,
  voicedBy,
  waitsFor,
} from './support/turns.ts';

const end = { kind: 'timer', timer: 'end-of-turn' } as const;

/** The agent has been heard for a second of a reply of five. */
function whilePlaying() {
  const turns = startTurns({ brief: { ...BRIEF, greeting: 'One two three four five?' } });
  turns.take(0, { kind: 'voiced', reply: 1, clause: 0, audioMs: 5000, isWhole: true });
  turns.take(0, { kind: 'playout-started', reply: 1, startedAtMs: 0 });
  return turns;
}

test('a pause of the playout of another reply changes nothing', () => {
  const turns = whilePlaying();
  const before = turns.state();

  const effects = turns.take(1000, { kind: 'playout-paused', reply: 9, playedMs: 500 });

  expect([effects, turns.state()]).toEqual([[], before]);
});

test.each([
  [1299, 'goes on'],
  [1300, 'stops'],
])('the agent that hears "mm-hm" drawn out until %d ms %s', (atMs, expected) => {
  const turns = whilePlaying();
  turns.take(100, { kind: 'voice-started', voicedAtMs: 100 });
  turns.take(600, { kind: 'timer', timer: 'partial' });
  const attempt = turns.state().utterance?.interim?.attempt ?? 0;
  turns.take(650, { kind: 'transcribed', attempt, text: 'mm-hm', confidence: 1 });

  const effects = turns.take(atMs, { kind: 'timer', timer: 'barge-in' });

  expect(kindsOf(effects).includes('drop') ? 'stops' : 'goes on').toBe(expected);
});

test('a voice end without a voice start changes nothing', () => {
  const turns = whilePlaying();
  turns.take(1000, { kind: 'playout-paused', reply: 1, playedMs: 1000 });

  expect(turns.take(1100, { kind: 'voice-stopped', lastVoicedAtMs: 1050 })).toEqual([]);
});

test('an utterance of two stretches is as long as both', () => {
  const turns = openTurns({ maySpeculate: false });
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });
  turns.take(1600, { kind: 'voice-stopped', lastVoicedAtMs: 1600 });
  turns.take(1800, { kind: 'voice-started', voicedAtMs: 1800 });
  turns.take(2200, { kind: 'voice-stopped', lastVoicedAtMs: 2200 });

  expect(turns.state().utterance?.speechMs).toBe(1000);
});

test('a caller who goes on during transcription cancels it', () => {
  const turns = openTurns();
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });
  turns.take(1600, { kind: 'voice-stopped', lastVoicedAtMs: 1600 });
  const attempt = turns.state().utterance?.attempt ?? 0;

  const effects = turns.take(1650, { kind: 'voice-started', voicedAtMs: 1650 });
  const late = turns.take(1700, { kind: 'transcribed', attempt, text: 'I', confidence: 1 });

  expect(kindsOf(effects)).toContain('cancel-transcription');
  expect(late).toEqual([]);
});

test.each([
  ['is learnt up to 1.5 s', 1500, true],
  ['is no pause when it is longer', 1501, false],
])('what a caller waits after a turn that was ended too early %s', (_, pauseMs, isLearnt) => {
  const turns = openTurns();
  ask(turns, 3000);
  const { typicalPauseMs } = turns.state();

  turns.take(2000 + pauseMs, { kind: 'voice-started', voicedAtMs: 2000 + pauseMs });
  const noise = turns.state().typicalPauseMs;
  turns.take(2800 + pauseMs, { kind: 'timer', timer: 'barge-in' });

  expect(noise).toBe(typicalPauseMs);
  expect(turns.state().typicalPauseMs !== typicalPauseMs).toBe(isLearnt);
});

test('what a caller waits is learnt also where they have heard the begin of the answer', () => {
  const turns = openTurns();
  ask(turns, 3000);
  think(turns, 3000, 'We are open from nine.');
  const reply = turns.replyId();
  turns.take(3010, { kind: 'voiced', reply, clause: 0, audioMs: 1500, isWhole: true });
  turns.take(3020, { kind: 'playout-started', reply, startedAtMs: 3020 });

  turns.take(3260, { kind: 'voice-started', voicedAtMs: 3200 });
  turns.take(4000, { kind: 'timer', timer: 'barge-in' });

  expect(turns.state().typicalPauseMs).toBe(1250);
});

test.each([
  ['is kept back while there is no sound of it', 0, ['hold']],
  ['goes out once it has begun to sound', 300, []],
])('an answer to a caller who speaks again %s', (_, audioMs, expected) => {
  const turns = openTurns();
  ask(turns, 3000);
  think(turns, 3100, 'We open at nine.');
  const reply = turns.replyId();
  turns.take(3150, { kind: 'voiced', reply, clause: 0, audioMs, isWhole: false });

  const effects = turns.take(3200, { kind: 'voice-started', voicedAtMs: 3200 });

  expect(kindsOf(effects).filter((kind) => kind === 'hold')).toEqual(expected);
});

test.each([
  [
    'ahead, gives out its later clauses when the turn is over',
    'speculative',
    ['We close at five.'],
  ],
  ['held, says none of them twice', 'held', []],
])('an answer of two clauses that was %s', (_, stage, expected) => {
  const turns = openTurns();
  if (stage === 'held') ask(turns, 3000);
  else say(turns, 'What are your hours?', 1000, 2000);
  think(turns, 3000, 'We open at nine.', 'We close at five.');
  if (stage === 'held') turns.take(3100, { kind: 'voice-started', voicedAtMs: 3100 });

  const effects =
    stage === 'held'
      ? say(turns, '', 3100, 3200)
      : turns.take(3500, { kind: 'timer', timer: 'end-of-turn' });

  expect(kindsOf(effects)).toContain('release');
  expect(voicedBy(effects)).toEqual(expected);
});

test('a clause whose audio is still coming is taken to last as long as it is written', () => {
  const turns = startTurns({ brief: { ...BRIEF, greeting: 'One two three four.' } });
  turns.take(0, { kind: 'playout-started', reply: 1, startedAtMs: 0 });

  const effects = turns.take(700, {
    ...{ kind: 'playout-finished', reply: 1, playedMs: 700, isComplete: false },
  });

  expect(saidBy(effects)).toEqual(['One two']);
});

test('a reply that was played to its end was heard whole, whatever the line has counted', () => {
  const turns = startTurns({ brief: { ...BRIEF, greeting: 'One two three four.' } });
  turns.take(0, { kind: 'voiced', reply: 1, clause: 0, audioMs: 1000, isWhole: true });
  turns.take(0, { kind: 'playout-started', reply: 1, startedAtMs: 0 });

  const effects = turns.take(900, {
    ...{ kind: 'playout-finished', reply: 1, playedMs: 900, isComplete: true },
  });

  expect(saidBy(effects)).toEqual(['One two three four.']);
});

test('the end of a clause without sound is not the first sound of a reply', () => {
  const turns = openTurns();
  ask(turns, 3000);
  think(turns, 3100, 'We open at nine.');
  const reply = turns.replyId();
  const voiced = { kind: 'voiced', reply, clause: 0, isWhole: false } as const;

  turns.take(3200, { ...voiced, audioMs: 0 });
  turns.take(3300, { ...voiced, audioMs: 500 });
  turns.take(3400, { ...voiced, audioMs: 500 });

  expect(turns.state().reply?.firstAudioAtMs).toBe(3300);
});

test.each([
  ['is the answer to it when it came up to 2 s before', 5000, true],
  ['is none when it came earlier', 5001, false],
])('a "yes" said into the agent’s question %s', (_, finishedAtMs, isAnswer) => {
  const turns = whilePlaying();
  say(turns, 'Yes.', 2700, 3000);

  const finished = turns.take(finishedAtMs, {
    ...{ kind: 'playout-finished', reply: 1, playedMs: 5000, isComplete: true },
  });

  expect(kindsOf(finished).includes('ask')).toBe(isAnswer);
  expect(turns.state().aside).toBeNull();
});

const KEYS = { kind: 'digit', digit: '#' } as const;
test.each([
  ['speaks', (turns: ReturnType<typeof openTurns>) => void ask(turns, 20_000)],
  ['presses a key', (turns: ReturnType<typeof openTurns>) => void turns.take(20_000, KEYS)],
  [
    'is joined by a third party',
    (turns: ReturnType<typeof openTurns>) => {
      turns.take(20_000, { kind: 'third-party', isThere: true });
    },
  ],
])('the agent may ask again whether the caller is there once the caller %s', (_, act) => {
  const turns = openTurns();
  turns.take(10_500, { kind: 'timer', timer: 'silence' });
  hearWhole(turns, 11_000, 12_000);
  const hadCheckedIn = turns.state().hasCheckedIn;

  act(turns);

  expect([hadCheckedIn, turns.state().hasCheckedIn]).toEqual([true, false]);
});

test('an answer to "Are you there?" that was said into it lets the agent ask again', () => {
  const turns = openTurns();
  turns.take(10_500, { kind: 'timer', timer: 'silence' });
  const reply = turns.replyId();
  turns.take(10_600, { kind: 'voiced', reply, clause: 0, audioMs: 1000, isWhole: true });
  turns.take(10_600, { kind: 'playout-started', reply, startedAtMs: 10_600 });
  say(turns, 'Yes.', 11_000, 11_300);
  turns.take(11_600, { kind: 'playout-finished', reply, playedMs: 1000, isComplete: true });

  expect(turns.state()).toMatchObject({ hasCheckedIn: false, aside: null });
});

test('a third party makes a speculative answer a miss', () => {
  const turns = openTurns();
  say(turns, 'What are your hours?', 1000, 2000);

  const effects = turns.take(2010, { kind: 'third-party', isThere: true });

  const miss = { kind: 'emit', event: { kind: 'speculation', outcome: 'miss' } };
  expect(effects).toContainEqual(miss);
});

test('a speculative answer to other words than the final ones is a miss', () => {
  const turns = openTurns();
  say(turns, 'What are your hours?', 1000, 2000);
  turns.take(2100, { kind: 'voice-started', voicedAtMs: 2100 });
  turns.take(2500, { kind: 'voice-stopped', lastVoicedAtMs: 2500 });

  expect(turns.state()).toMatchObject({ speculationHits: 0, speculationMisses: 1 });
});

test('32 keys are taken together without waiting for more', () => {
  const turns = openTurns();
  const press = (index: number) =>
    turns.take(1000 + index, { kind: 'digit', digit: String(index % 10) });

  const early = Array.from({ length: 31 }, (_, index) => press(index)).flatMap(saidBy);
  const last = saidBy(press(31));

  expect(early).toEqual([]);
  expect(last).toHaveLength(1);
});

test('an agent without speculation requests the transcript at once when the silence was long enough', () => {
  const turns = openTurns({ maySpeculate: false });
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });

  const effects = turns.take(6000, { kind: 'voice-stopped', lastVoicedAtMs: 2000 });

  expect(effects).toContainEqual(
    expect.objectContaining({ kind: 'transcribe', priority: 'final' }),
  );
});

test('an agent without speculation waits less for a voice that sounds finished', () => {
  const turns = openTurns({ maySpeculate: false });
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });
  const unscored = turns.take(2000, { kind: 'voice-stopped', lastVoicedAtMs: 2000 });

  const scored = turns.take(2000, { kind: 'turn-scored', lastVoicedAtMs: 2000, probability: 1 });

  const [waitMs = 0] = waitsFor('end-of-turn', unscored);
  expect(waitsFor('end-of-turn', scored)[0]).toBeLessThan(waitMs);
});

test.each([
  ['during transcription', false],
  ['once the turn is over but for its words', true],
])('a pause’s turn score changes no wait %s', (_, isOver) => {
  const turns = openTurns({ maySpeculate: !isOver });
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });
  turns.take(2000, { kind: 'voice-stopped', lastVoicedAtMs: 2000 });
  if (isOver) turns.take(2700, end);

  expect(turns.take(2800, { kind: 'turn-scored', lastVoicedAtMs: 2000, probability: 1 })).toEqual(
    [],
  );
});

test('the score of a pause changes nothing while the agent has the floor', () => {
  const turns = whilePlaying();
  turns.take(100, { kind: 'voice-started', voicedAtMs: 100 });
  turns.take(400, { kind: 'voice-stopped', lastVoicedAtMs: 400 });

  expect(turns.take(500, { kind: 'turn-scored', lastVoicedAtMs: 400, probability: 1 })).toEqual([]);
});

test('one turn is thought ahead of three times at most', () => {
  const turns = openTurns();
  const asked = Array.from({ length: 5 }, (_, index) =>
    kindsOf(say(turns, 'and', 1000 + index * 300, 1200 + index * 300)).includes('ask'),
  );

  expect(asked).toEqual([true, true, true, false, false]);
});

test.each([
  [10_000, true],
  [10_001, false],
])('speech of %d ms is thought ahead of: %s', (speechMs, isAsked) => {
  const turns = openTurns();

  const effects = say(turns, 'What are your hours?', 1000, 1000 + speechMs);

  expect(kindsOf(effects).includes('ask')).toBe(isAsked);
});
