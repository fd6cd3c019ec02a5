/** How loud a voice was, as a call's track tells it. */
import { expect, test } from 'vitest';
import type { VoiceEvent } from '../../src/speech/hearing/hearing.ts';
import { type Vad, VadTrack } from '../../src/speech/vad/vad-track.ts';

const detector: Vad = {
  rateHz: 8000,
  windowSamples: 256,
  open: () => ({ reset: () => undefined }),
  score: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

/** Plays windows of an even level, scored as given. */
function eventsOf(windows: readonly { readonly sample: number; readonly score: number }[]) {
  const track = new VadTrack(detector);
  const events: VoiceEvent[] = [];
  for (const { sample, score } of windows) {
    track.push(new Int16Array(256).fill(sample));
    track.takeWindow();
    const event = track.score(score, { position: 0, atMs: 0 });
    if (event !== null) events.push(event);
  }
  return events;
}

const times = <Item>(count: number, item: Item): Item[] =>
  Array.from({ length: count }, () => item);

test('VadTrack tells how loud a voice was, the pauses and what came before left out', () => {
  const knock = { sample: 32_000, score: 0.9 };
  const quiet = { sample: 1, score: 0.01 };
  const voice = { sample: 3277, score: 0.95 };
  const unsure = { sample: 20_000, score: 0.4 };

  const [started, stopped] = eventsOf([
    knock,
    quiet,
    ...times(4, voice),
    unsure,
    ...times(4, voice),
    ...times(2, quiet),
  ]);

  expect(started?.kind).toBe('voice-started');
  expect(stopped).toMatchObject({ kind: 'voice-stopped', levelDbfs: -20 });
});

test('VadTrack measures each voice by itself', () => {
  const quiet = { sample: 0, score: 0 };
  const events = eventsOf([
    ...times(3, { sample: 3277, score: 1 }),
    ...times(3, quiet),
    ...times(3, { sample: 328, score: 1 }),
    ...times(3, quiet),
  ]);

  const levels = events.flatMap((event) =>
    event.kind === 'voice-stopped' ? [event.levelDbfs] : [],
  );
  expect(levels).toEqual([-20, -40]);
});
