/** Listening while the caller still speaks: when the recogniser is asked, and when it is left alone. */
import { expect, test } from 'vitest';
import { phrasesFor } from '../../src/conversation/reply/phrases.ts';
import type { TurnEffect, TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { takeTurnEvent } from '../../src/conversation/turn/turn-machine.ts';
import { DEFAULT_TIMING } from '../../src/conversation/turn/turn-rules.ts';
import { openState } from '../../src/conversation/turn/turn-state.ts';
import { BRIEF } from './support/table.ts';

/** A conversation whose greeting lasts so long: it has been heard unless that is longer than a second. */
function openTurns(greetingMs = 490) {
  let state = openState({
    brief: BRIEF,
    phrases: phrasesFor('en'),
    timing: DEFAULT_TIMING,
    maySpeculate: true,
    turnTrust: 0,
    country: 'US',
    isAfterWords: () => false,
    needsSureWords: () => false,
    startedAt: new Date(0),
  });
  const take = (atMs: number, event: TurnEvent): readonly TurnEffect[] => {
    const step = takeTurnEvent(state, { ...event, atMs });
    state = step.state;
    return step.effects;
  };
  take(0, { kind: 'started' });
  take(5, { kind: 'voiced', reply: 1, clause: 0, audioMs: greetingMs, isWhole: true });
  take(10, { kind: 'playout-started', reply: 1, startedAtMs: 10 });
  if (greetingMs < 1000) {
    const playedMs = greetingMs;
    take(500, { kind: 'playout-finished', reply: 1, playedMs, isComplete: true });
  }
  return { take, state: () => state };
}

const asked = (effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) => (effect.kind === 'transcribe' ? [effect.priority] : []));
const waits = (effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) =>
    effect.kind === 'set-timer' && effect.timer === 'partial' ? [effect.delayMs] : [],
  );
const LOOK = { kind: 'timer', timer: 'partial' } as const;

test('looks 500 ms after the voice began, and every 500 ms from then on', () => {
  const { take } = openTurns();

  const started = take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  const first = take(1500, LOOK);
  const words = { kind: 'transcribed', attempt: 1, text: 'I would', confidence: 1 } as const;
  const answered = take(1600, words);

  expect(waits(started)).toEqual([440]);
  expect(asked(first)).toEqual(['partial']);
  expect(waits(answered)).toEqual([400]);
  expect(answered).toContainEqual({ kind: 'emit', event: { kind: 'hearing', text: 'I would' } });
});

test('does not look again while the look before is under way', () => {
  const { take } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1500, LOOK);

  expect(asked(take(2000, LOOK))).toEqual([]);
});

test('leaves a recogniser half its time that takes 400 ms', () => {
  const { take } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1500, LOOK);

  const words = { kind: 'transcribed', attempt: 1, text: 'I', confidence: 1 } as const;
  expect(waits(take(1900, words))).toEqual([400]);
});

test.each([
  ['slow', 2200, { kind: 'transcribed', attempt: 1, text: 'I', confidence: 1 }],
  ['busy with others', 1600, { kind: 'transcription-failed', attempt: 1 }],
] as const)('stops looking for the whole turn when the recogniser is %s', (_what, atMs, answer) => {
  const { take, state } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1500, LOOK);
  const after = take(atMs, answer);
  take(2300, { kind: 'voice-stopped', lastVoicedAtMs: 2240 });
  const again = take(2460, { kind: 'voice-started', voicedAtMs: 2400 });

  expect([...waits(after), ...waits(again)]).toEqual([]);
  expect(state().failures).toBe(0);
});

test('says nothing of a look that came back with the same words, or with none', () => {
  const { take } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  const texts = ['', 'I', 'I'];

  const heard = texts.flatMap((text, index) => {
    take(1500 + 500 * index, LOOK);
    const words = { kind: 'transcribed', attempt: index + 1, text, confidence: 1 } as const;
    return take(1600 + 500 * index, words).filter(({ kind }) => kind === 'emit');
  });

  expect(heard).toEqual([{ kind: 'emit', event: { kind: 'hearing', text: 'I' } }]);
});

test.each([
  ['', ['']],
  ['I would', []],
])('takes back what was made out where the pause shows that nothing was said: "%s"', (text, takenBack) => {
  const { take } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1500, LOOK);
  take(1550, { kind: 'transcribed', attempt: 1, text: 'I', confidence: 1 });
  take(1660, { kind: 'voice-stopped', lastVoicedAtMs: 1600 });

  const pause = take(1700, { kind: 'transcribed', attempt: 2, text, confidence: 1 });
  const end = take(3700, { kind: 'timer', timer: 'end-of-turn' });

  const heard = [...pause, ...end].flatMap((effect) =>
    effect.kind === 'emit' && effect.event.kind === 'hearing' ? [effect.event.text] : [],
  );
  expect(heard).toEqual(takenBack);
});

test('ignores a look that comes back after the words of the pause were asked for', () => {
  const { take, state } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1500, LOOK);
  take(1660, { kind: 'voice-stopped', lastVoicedAtMs: 1600 });

  const late = take(1700, { kind: 'transcribed', attempt: 1, text: 'I', confidence: 1 });

  expect(late).toEqual([]);
  expect(state().utterance?.isTranscribing).toBe(true);
});

test('ignores the turn model’s score of a pause that is over', () => {
  const { take } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1660, { kind: 'voice-stopped', lastVoicedAtMs: 1600 });
  const stale = { kind: 'turn-scored', lastVoicedAtMs: 1200, probability: 1 } as const;
  const first = take(1700, stale);
  take(1760, { kind: 'voice-started', voicedAtMs: 1700 });

  const second = take(1800, { kind: 'turn-scored', lastVoicedAtMs: 1600, probability: 1 });

  expect([...first, ...second]).toEqual([]);
});

test('learns a pause of dictation apart from those of talk', () => {
  const { take, state } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1660, { kind: 'voice-stopped', lastVoicedAtMs: 1600 });
  take(1700, { kind: 'transcribed', attempt: 1, text: 'five five', confidence: 1 });
  take(2660, { kind: 'voice-started', voicedAtMs: 2600 });

  expect(state().dictationPauseMs).toBe(300);
  expect(state().typicalPauseMs).toBe(0);
});

test('counts an answer begun ahead as thrown away when a key is pressed', () => {
  const { take, state } = openTurns();
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1660, { kind: 'voice-stopped', lastVoicedAtMs: 1600 });
  take(1700, { kind: 'transcribed', attempt: 1, text: 'I would like to', confidence: 1 });

  take(1750, { kind: 'digit', digit: '4' });

  expect(state()).toMatchObject({ reply: null, speculationMisses: 1 });
});

test.each([
  ['two sure words', { text: 'My order', confidence: 0.95 }, 1600, true],
  ['two unsure words, half a second long', { text: 'My order', confidence: 0.4 }, 1600, false],
  ['two unsure words, a second long', { text: 'My order', confidence: 0.4 }, 2050, true],
  ['one sure word', { text: 'Order', confidence: 0.99 }, 1600, false],
  ['a "wait" that is less sure', { text: 'Wait, my order', confidence: 0.82 }, 1600, true],
] as const)('a voice over the agent that goes on takes the floor or not: %s', (_what, words, atMs, isTaken) => {
  const { take } = openTurns(3000);
  take(1060, { kind: 'voice-started', voicedAtMs: 1000 });
  take(1500, LOOK);

  const effects = take(atMs, { kind: 'transcribed', attempt: 1, ...words });

  const bargeIn = { kind: 'emit', event: { kind: 'barge-in' } };
  if (isTaken) expect(effects).toContainEqual(bargeIn);
  else expect(effects).not.toContainEqual(bargeIn);
});
