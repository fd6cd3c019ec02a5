import { expect, test } from 'vitest';
import { PLAYOUT_MS_MAX, Playout } from '../../src/media/rtp-session/playout.ts';

function pcm(samples: number, value: number): Int16Array {
  return new Int16Array(samples).fill(value);
}

function take(playout: Playout): Int16Array | undefined {
  const frame = new Int16Array(160);
  return playout.takeInto(frame) ? frame : undefined;
}

/** The first sample of each frame that comes out, up to `most`. */
function takeAll(playout: Playout, most = 100): number[] {
  const values: number[] = [];
  for (let frame = take(playout); frame !== undefined && values.length < most; ) {
    values.push(frame[0] ?? 0);
    frame = take(playout);
  }
  return values;
}

test('Playout cuts chunks of any length into frames, in order', () => {
  const playout = new Playout();
  playout.begin(1);

  for (const [length, value] of [
    [100, 1],
    [100, 2],
    [300, 3],
  ] as const) {
    playout.say(1, pcm(length, value));
  }
  const frames = [take(playout), take(playout), take(playout), take(playout)];

  expect(frames[0]).toEqual(Int16Array.from([...pcm(100, 1), ...pcm(60, 2)]));
  expect(frames[1]).toEqual(Int16Array.from([...pcm(40, 2), ...pcm(120, 3)]));
  expect(frames[2]).toEqual(pcm(160, 3));
  expect(frames[3]).toBeUndefined();
});

test('Playout keeps a part of a frame back until more comes, and fills it up at the end', () => {
  const playout = new Playout();
  playout.begin(1);
  playout.say(1, pcm(200, 5));
  takeAll(playout);

  const before = take(playout);
  playout.finish(1);
  const after = take(playout);

  expect(before).toBeUndefined();
  expect(after).toEqual(Int16Array.from([...pcm(40, 5), ...pcm(120, 0)]));
});

test('Playout is over when its last frame was taken, with what was played', () => {
  const playout = new Playout();
  playout.begin(1);
  playout.say(1, pcm(200, 5));
  playout.finish(1);

  const outcomes = [take(playout), playout.endIfPlayed(), take(playout), playout.endIfPlayed()];

  expect(outcomes[1]).toBeUndefined();
  expect(outcomes[3]).toEqual({ generation: 1, playedMs: 25, isComplete: true });
});

test('Playout without audio is over as soon as it is finished', () => {
  const playout = new Playout();
  playout.begin(1);

  expect(playout.finish(1)).toEqual({ generation: 1, playedMs: 0, isComplete: true });
});

test('Playout lets nothing of an older reply out once a newer one has begun', () => {
  const playout = new Playout();
  playout.begin(1);
  playout.say(1, pcm(1600, 1));
  take(playout);

  const cutOff = playout.begin(2);
  playout.say(1, pcm(1600, 1));
  playout.say(2, pcm(160, 2));
  playout.begin(1);

  expect(cutOff).toEqual({ generation: 1, playedMs: 20, isComplete: false });
  expect(takeAll(playout)).toEqual([2]);
});

test('Playout keeps its tail while it is paused', () => {
  const playout = new Playout();
  playout.begin(1);
  playout.say(1, Int16Array.from([...pcm(160, 1), ...pcm(160, 2)]));
  take(playout);

  playout.pause();
  const paused = takeAll(playout);
  playout.resume(1);

  expect(paused).toEqual([]);
  expect(takeAll(playout)).toEqual([2]);
});

test('Playout forgets its tail when it is dropped', () => {
  const playout = new Playout();
  playout.begin(1);
  playout.say(1, pcm(1600, 1));
  take(playout);

  const dropped = playout.drop(1);

  expect(dropped).toEqual({ generation: 1, playedMs: 20, isComplete: false });
  expect(takeAll(playout)).toEqual([]);
  expect(playout.drop(1)).toBeUndefined();
});

test('Playout ignores wishes about replies that are not under way', () => {
  const playout = new Playout();
  playout.begin(2);
  playout.say(2, pcm(160, 2));
  playout.pause();

  const outcomes = [playout.drop(1), playout.finish(3)];
  playout.resume(1);

  expect(outcomes).toEqual([undefined, undefined]);
  expect(playout.isPaused).toBe(true);
});

test('Playout takes two minutes of audio and no more', () => {
  const playout = new Playout();
  playout.begin(1);
  const aMinute = pcm(60 * 8000, 1);

  const took = [1, 2, 3].map(() => playout.say(1, aMinute));

  expect(took).toEqual([true, true, false]);
  expect(takeAll(playout, 10_000)).toHaveLength(PLAYOUT_MS_MAX / 20);
});

test('Playout ignores a second beginning of the same reply: nothing of it is lost or played again', () => {
  const playout = new Playout();
  playout.begin(1);
  playout.say(1, pcm(320, 7));
  const first = take(playout);

  const cutOff = playout.begin(1);

  expect(cutOff).toBeUndefined();
  expect(first).toEqual(pcm(160, 7));
  expect(playout.playedMs).toBe(20);
  expect(takeAll(playout)).toEqual([7]);
});
