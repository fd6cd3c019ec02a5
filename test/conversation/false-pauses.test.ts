/** Playout that pauses for noises: how long a sound must last before it pauses again. */
import { expect, test } from 'vitest';
import type { TurnEffect } from '../../src/conversation/turn/turn-event.ts';
import { BRIEF } from './support/table.ts';
import { startTurns } from './support/turns.ts';

function whilePlaying(isInterruptible = true) {
  const turns = startTurns({ brief: { ...BRIEF, isInterruptible, greeting: 'One two three?' } });
  turns.take(0, { kind: 'voiced', reply: 1, clause: 0, audioMs: 90_000, isWhole: true });
  turns.take(0, { kind: 'playout-started', reply: 1, startedAtMs: 0 });
  return turns;
}

type Turns = ReturnType<typeof whilePlaying>;

const pauseAfter = (effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) => (effect.kind === 'set-pause-after' ? [effect.voiceMs] : []));

/** Playout pauses at this instant, and goes on 300 ms later, as no voice was detected. */
function noiseAt(turns: Turns, atMs: number): readonly (number | null)[] {
  turns.take(atMs, { kind: 'playout-paused', reply: 1, playedMs: atMs });
  return pauseAfter(turns.take(atMs + 300, { kind: 'timer', timer: 'pause-proof' }));
}

test('each pause without a voice makes the next one longer; after three the sound alone does not pause', () => {
  const turns = whilePlaying();

  const lengths = [1000, 2000, 3000, 4000, 5000].map((atMs) => noiseAt(turns, atMs));

  expect(lengths).toEqual([[160], [320], [null], [null], [null]]);
});

test('a noise long after the one before counts as the first', () => {
  const turns = whilePlaying();

  const lengths = [1000, 2000, 20_000].map((atMs) => noiseAt(turns, atMs));

  expect(lengths).toEqual([[160], [320], [160]]);
});

test('the next answer in a place that has become quiet pauses for a short voice again', () => {
  const turns = whilePlaying();
  noiseAt(turns, 1000);
  turns.take(1000, { kind: 'playout-finished', reply: 1, playedMs: 90_000, isComplete: true });
  turns.take(11_000, { kind: 'timer', timer: 'silence' });

  const effects = turns.take(30_000, { kind: 'playout-started', reply: 2, startedAtMs: 30_000 });

  expect(pauseAfter(effects)).toEqual([60]);
});

test('a voice without words counts as a noise, a backchannel does not', () => {
  const lengths = ['', 'mm-hm'].map((text) => {
    const turns = whilePlaying();
    turns.take(1000, { kind: 'voice-started', voicedAtMs: 1000 });
    turns.take(1000, { kind: 'playout-paused', reply: 1, playedMs: 1000 });
    turns.take(1300, { kind: 'voice-stopped', lastVoicedAtMs: 1250 });
    const attempt = turns.state().utterance?.attempt ?? 0;
    const heard = { kind: 'transcribed', attempt, text, confidence: 1 } as const;
    return pauseAfter(turns.take(1400, heard));
  });

  expect(lengths).toEqual([[160], []]);
});

test('an agent that may not be interrupted stays so', () => {
  const turns = whilePlaying(false);

  expect(noiseAt(turns, 1000)).toEqual([]);
});
