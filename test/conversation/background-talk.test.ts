/** The turn machine when voices turn out to be the talk of people around the caller. */
import { expect, test } from 'vitest';
import { ask, kindsOf, openTurns, say, startTurns, voicedBy } from './support/turns.ts';

test('words that were recognised in background talk are dropped, with the answer that was begun to them', () => {
  const turns = openTurns();
  say(turns, 'What are your hours?', 1000, 2000);
  expect(turns.state().reply?.stage).toBe('speculative');

  const found = turns.take(2050, { kind: 'background-talk', sinceMs: 1000 });

  expect(kindsOf(found)).toContain('drop');
  expect(turns.state()).toMatchObject({ utterance: null, reply: null, turns: 0 });
});

test('the agent goes on with the greeting that background talk has paused', () => {
  const turns = startTurns();
  turns.take(100, { kind: 'playout-started', reply: turns.replyId(), startedAtMs: 100 });
  turns.take(300, { kind: 'voice-started', voicedAtMs: 240 });
  turns.take(310, { kind: 'playout-paused', reply: turns.replyId(), playedMs: 200 });

  const found = turns.take(600, { kind: 'background-talk', sinceMs: 0 });

  expect(kindsOf(found)).toContain('resume');
  expect(turns.state().utterance).toBeNull();
});

test('what background talk has cut off is said again', () => {
  const turns = startTurns();
  turns.take(100, { kind: 'playout-started', reply: turns.replyId(), startedAtMs: 100 });
  turns.take(300, { kind: 'voice-started', voicedAtMs: 240 });
  turns.take(310, { kind: 'playout-paused', reply: turns.replyId(), playedMs: 200 });
  const cut = turns.take(1100, { kind: 'timer', timer: 'barge-in' });
  expect(kindsOf(cut)).toContain('drop');

  const found = turns.take(2100, { kind: 'background-talk', sinceMs: 50 });

  expect(voicedBy(found)).toHaveLength(1);
});

test('an utterance that is older than the background talk ends where that began', () => {
  const turns = openTurns();
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });

  const found = turns.take(6000, { kind: 'background-talk', sinceMs: 4000 });

  expect(kindsOf(found)).toContain('transcribe');
  expect(turns.state().utterance).toMatchObject({ isSpeaking: false, lastVoicedAtMs: 4000 });
});

test('background talk while the caller is silent changes nothing', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const before = turns.state();

  expect(turns.take(4000, { kind: 'background-talk', sinceMs: 2000 })).toEqual([]);
  expect(turns.state()).toEqual(before);
});
