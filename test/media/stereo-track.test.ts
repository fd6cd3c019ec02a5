import { expect, test } from 'vitest';
import { StereoTrack } from '../../src/media/recording/wav-recorder.ts';

const FRAME = 160;

function pcm(value: number): Int16Array {
  return new Int16Array(FRAME).fill(value);
}

/** Value of one channel in the middle of every 20 ms. */
function channel(track: StereoTrack, side: 0 | 1): number[] {
  const frames = track.length;
  const bytes = track.take(frames);
  return Array.from({ length: Math.ceil(frames / FRAME) }, (_, index) => {
    const at = Math.min(frames - 1, index * FRAME + FRAME / 2);
    return bytes.readInt16LE(at * 4 + side * 2);
  });
}

test('StereoTrack puts the caller left and the agent right', () => {
  const track = new StereoTrack({ startedAtMs: 1000 });
  track.add('caller', pcm(1), 1020);
  track.add('agent', pcm(2), 1020);

  const bytes = track.take(track.length);

  expect(bytes.length).toBe(FRAME * 4);
  expect([bytes.readInt16LE(0), bytes.readInt16LE(2)]).toEqual([1, 2]);
});

test('StereoTrack keeps both sides at their time over gaps', () => {
  const track = new StereoTrack({ startedAtMs: 0 });

  track.add('caller', pcm(1000), 20);
  track.add('agent', pcm(2000), 120);
  track.add('caller', pcm(3000), 200);

  expect(channel(track, 0)).toEqual([1000, 0, 0, 0, 0, 0, 0, 0, 0, 3000]);
});

test('StereoTrack joins uneven packets without a seam', () => {
  const track = new StereoTrack({ startedAtMs: 0 });

  for (const [index, lateMs] of [0, 15, 3, 40, 0].entries()) {
    track.add('caller', pcm(index + 1), (index + 1) * 20 + lateMs);
  }

  expect(track.length).toBe(5 * FRAME);
  expect(channel(track, 0)).toEqual([1, 2, 3, 4, 5]);
});

test('StereoTrack keeps a burst whole and goes back to its time in the next quiet', () => {
  const track = new StereoTrack({ startedAtMs: 0 });
  for (let index = 0; index < 10; index += 1) track.add('caller', pcm(1000 + index), 20);

  for (let index = 1; index <= 10; index += 1) track.add('caller', pcm(0), 20 + index * 20);
  track.add('caller', pcm(2000), 240);

  const heard = channel(track, 0);
  expect(heard.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, index) => 1000 + index));
  expect(heard.indexOf(2000)).toBeLessThanOrEqual(14);
});

test('StereoTrack refuses a flood that runs ahead by more than a second', () => {
  const track = new StereoTrack({ startedAtMs: 0 });

  for (let index = 0; index < 1000; index += 1) track.add('caller', pcm(1000), 20);

  expect(track.length).toBeLessThanOrEqual(8000 + 2 * FRAME);
});

test('StereoTrack goes on seamlessly after a part was taken out', () => {
  const track = new StereoTrack({ startedAtMs: 0 });
  for (let index = 1; index <= 4; index += 1) track.add('agent', pcm(index), index * 20);

  const first = track.take(2 * FRAME);
  track.add('agent', pcm(5), 100);

  expect(first.readInt16LE(FRAME * 4 + 2)).toBe(2);
  expect(channel(track, 1)).toEqual([3, 4, 5]);
});

test('StereoTrack drops what comes for a time that was taken out already', () => {
  const track = new StereoTrack({ startedAtMs: 0 });
  for (let index = 1; index <= 20; index += 1) track.add('agent', pcm(index), index * 20);
  track.take(20 * FRAME);

  track.add('caller', pcm(9), 100);

  expect(track.length).toBe(0);
});

test('StereoTrack leaves nothing of itself in the memory that the next one has', () => {
  const first = new StereoTrack({ startedAtMs: 0 });
  first.add('caller', new Int16Array(16_000).fill(9000), 2000);
  first.add('agent', new Int16Array(16_000).fill(9000), 2000);
  first.end();

  const next = new StereoTrack({ startedAtMs: 0 });

  expect(next.length).toBe(0);
  expect(next.take(16_000).every((byte) => byte === 0)).toBe(true);
});

test('StereoTrack shares no memory with one that goes on, also when it is ended twice', () => {
  const ended = new StereoTrack({ startedAtMs: 0 });
  ended.end();
  ended.end();
  const [one, other] = [new StereoTrack({ startedAtMs: 0 }), new StereoTrack({ startedAtMs: 0 })];

  ended.add('caller', pcm(1), 20);
  one.add('caller', pcm(2), 20);

  expect(other.take(FRAME).every((byte) => byte === 0)).toBe(true);
  expect(channel(one, 0)).toEqual([2]);
});
