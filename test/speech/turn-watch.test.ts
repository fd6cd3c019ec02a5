/** Which pauses the turn detector is asked about, and when. */
import { expect, test } from 'vitest';
import type { VoiceEvent } from '../../src/speech/hearing/hearing.ts';
import { TurnWatch } from '../../src/speech/turn-detection/turn-detector.ts';

function watchListeners() {
  const asked: number[] = [];
  const told: (readonly [number, VoiceEvent])[] = [];
  let audio: Int16Array | null = new Int16Array(8);
  const watch = new TurnWatch({
    lane: {
      score: (listener) => {
        asked.push(listener);
        return Promise.resolve(listener === 3 ? null : 0.9);
      },
      forget: () => undefined,
    },
    audioOf: () => audio,
    emit: (listener, event) => told.push([listener, event]),
  });
  const loseAudio = () => {
    audio = null;
  };
  return { watch, asked, told, loseAudio };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('TurnWatch asks once a pause has lasted 160 ms, and once only', async () => {
  const { watch, asked, told } = watchListeners();
  watch.received(1, { kind: 'voice-stopped', lastVoicedAtMs: 1000 });
  for (const nowMs of [1064, 1128, 1159]) watch.tick(nowMs);
  const before = asked.length;
  for (const nowMs of [1160, 1192, 1224]) watch.tick(nowMs);
  await settled();

  expect(before).toBe(0);
  expect(asked).toEqual([1]);
  expect(told).toEqual([[1, { kind: 'turn-scored', lastVoicedAtMs: 1000, probability: 0.9 }]]);
});

test('TurnWatch asks nothing about a caller who goes on', () => {
  const { watch, asked } = watchListeners();
  watch.received(1, { kind: 'voice-stopped', lastVoicedAtMs: 1000 });
  watch.received(1, { kind: 'voice-started', atMs: 1100 });
  watch.tick(2000);

  expect(asked).toEqual([]);
});

test('TurnWatch tells nothing where there is no score or no audio', async () => {
  const { watch, told, loseAudio } = watchListeners();
  watch.received(3, { kind: 'voice-stopped', lastVoicedAtMs: 1000 });
  watch.tick(2000);
  loseAudio();
  watch.received(1, { kind: 'voice-stopped', lastVoicedAtMs: 1000 });
  watch.tick(2000);
  await settled();

  expect(told).toEqual([]);
});
