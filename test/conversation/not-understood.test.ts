/** A clear sentence of the caller of which the recogniser makes no words. */
import { expect, test } from 'vitest';
import { hearWhole, kindsOf, openTurns, PHRASES, say, think, voicedBy } from './support/turns.ts';

type Turns = ReturnType<typeof openTurns>;

/** The caller speaks from `fromMs` to `toMs`; no words come of it, 100 ms later. */
function speakUnclearly(
  turns: Turns,
  [fromMs, toMs]: readonly [number, number],
  clearVoiceMs: number,
) {
  turns.take(fromMs, { kind: 'voice-started', voicedAtMs: fromMs });
  turns.take(toMs, { kind: 'voice-stopped', lastVoicedAtMs: toMs });
  return takeNothing(turns, toMs + 100, clearVoiceMs);
}

function takeNothing(turns: Turns, atMs: number, clearVoiceMs?: number) {
  const attempt = turns.state().utterance?.attempt ?? 0;
  return turns.take(atMs, {
    ...{ kind: 'transcribed', attempt, text: '', confidence: 0 },
    ...(clearVoiceMs !== undefined && { clearVoiceMs }),
  });
}

/** The same, to the end of the turn. @returns the effects of its end. */
function sayUnclearly(turns: Turns, fromMs: number) {
  speakUnclearly(turns, [fromMs, fromMs + 2000], 1400);
  turns.take(fromMs + 3000, { kind: 'timer', timer: 'end-of-turn' });
  return takeNothing(turns, fromMs + 3100, 1400);
}

test('a clear sentence without words is recognised once more at the end of the turn, and then asked for again', () => {
  const turns = openTurns();

  const paused = speakUnclearly(turns, [1000, 3000], 1400);
  const ended = turns.take(4000, { kind: 'timer', timer: 'end-of-turn' });
  const asking = takeNothing(turns, 4100, 1400);

  expect(voicedBy(paused)).toEqual([]);
  expect(ended).toContainEqual({ kind: 'transcribe', attempt: 2, priority: 'final' });
  expect(voicedBy(asking)).toEqual([PHRASES.notUnderstood]);
  expect(turns.state()).toMatchObject({ utterance: null, failures: 0 });
});

test('words that come of the second attempt are answered as any', () => {
  const turns = openTurns();
  speakUnclearly(turns, [1000, 3000], 1400);
  turns.take(4000, { kind: 'timer', timer: 'end-of-turn' });

  const effects = turns.take(4100, {
    ...{ kind: 'transcribed', attempt: 2, text: 'What are your hours?', confidence: 0.9 },
  });

  expect(voicedBy(effects)).toEqual([]);
  expect(kindsOf(effects)).toContain('ask');
});

test('a caller who goes on speaking is not talked over', () => {
  const turns = openTurns();
  speakUnclearly(turns, [1000, 3000], 1400);

  const more = turns.take(3400, { kind: 'voice-started', voicedAtMs: 3400 });
  turns.take(5000, { kind: 'voice-stopped', lastVoicedAtMs: 5000 });
  const again = takeNothing(turns, 5100, 2500);

  expect(more).toContainEqual({ kind: 'cancel-timer', timer: 'end-of-turn' });
  expect(voicedBy(again)).toEqual([]);
});

test.each([
  ['a cough, or a short word', 250],
  ['a line without a voice detector, or a sound that the recogniser names', undefined],
])('nothing is asked after %s', (_, clearVoiceMs) => {
  const turns = openTurns();
  turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });
  turns.take(3000, { kind: 'voice-stopped', lastVoicedAtMs: 3000 });

  const effects = takeNothing(turns, 3100, clearVoiceMs);

  expect(voicedBy(effects)).toEqual([]);
  expect(turns.state().utterance).toBeNull();
});

test('after two questions in a row the model is told, and after that silence counts, until words come', () => {
  const turns = openTurns();

  const first = sayUnclearly(turns, 1000);
  hearWhole(turns, 4200, 5200);
  const second = sayUnclearly(turns, 6000);
  hearWhole(turns, 9200, 10_200);
  const third = sayUnclearly(turns, 11_000);
  think(turns, 14_200, 'The line is bad. Shall I connect you?');
  hearWhole(turns, 14_300, 15_300);
  const fourth = sayUnclearly(turns, 16_000);
  say(turns, 'Yes, please.', 20_000, 21_000);
  turns.take(22_000, { kind: 'timer', timer: 'end-of-turn' });
  think(turns, 22_100, 'One moment.');
  hearWhole(turns, 22_200, 23_200);
  const later = sayUnclearly(turns, 24_000);

  const { notUnderstood } = PHRASES;
  const rows = [first, second, third, fourth, later];
  expect(rows.map(voicedBy)).toEqual([[notUnderstood], [notUnderstood], [], [], [notUnderstood]]);
  expect(rows.map((effects) => kindsOf(effects).includes('ask'))).toEqual([
    ...[false, false, true, false, false],
  ]);
});

test('two parties who talk to each other are not asked', () => {
  const turns = openTurns();
  turns.take(600, { kind: 'third-party', isThere: true });
  think(turns, 700, 'Here is Alice.');
  hearWhole(turns, 800, 900);

  const effects = sayUnclearly(turns, 1000);

  expect(voicedBy(effects)).toEqual([]);
});

test('a caller who was not understood after "Are you still there?" is still there', () => {
  const turns = openTurns();
  turns.take(10_500, { kind: 'timer', timer: 'silence' });
  hearWhole(turns, 10_600, 11_600);

  sayUnclearly(turns, 12_000);
  hearWhole(turns, 15_200, 16_200);
  const silent = turns.take(26_200, { kind: 'timer', timer: 'silence' });

  expect(voicedBy(silent)).toEqual([PHRASES.checkIn]);
});
