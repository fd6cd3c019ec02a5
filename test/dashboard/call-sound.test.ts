/** The sound of a call in the page: its outline, its keys, its meters, and listening to it as it goes on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { levelsOf, transferFailureOf } from '../../src/dashboard/live-state.ts';
import { fallen, fillOf } from '../../src/dashboard/meter-board.ts';
import { columnsOf, deedOf, heightOf, pointsFor } from '../../src/dashboard/time-line.ts';
import { SoundSchedule, WavStreamReader } from '../../src/dashboard/wav-stream.ts';
import { wavHeader } from '../../src/media/recording/wav-file.ts';

test('columnsOf loses no peak, however few columns there are', () => {
  const peaks = [0, 0, 0.9, 0, 0.1, 0, 0, 0.4];

  expect(columnsOf(peaks, 800, { fromMs: 0, toMs: 800 }, 2)).toEqual([0.9, 0.4]);
  expect(columnsOf(peaks, 800, { fromMs: 0, toMs: 800 }, 3)).toEqual([0.9, 0.9, 0.4]);
});

test('columnsOf shows a part, repeats where it is near, and has nothing beyond the end', () => {
  const peaks = [0.1, 0.2];

  expect(columnsOf(peaks, 2000, { fromMs: 1000, toMs: 3000 }, 4)).toEqual([0.2, 0.2, 0, 0]);
  expect(columnsOf([], 0, { fromMs: 0, toMs: 1000 }, 2)).toEqual([0, 0]);
});

test('columnsOf has the loudest of all in some column', () => {
  const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 300 }), (peaks, columns) => {
      const drawn = columnsOf(peaks, 9000, { fromMs: 0, toMs: 9000 }, columns);

      expect(Math.max(...drawn)).toBe(Math.max(...peaks));
    }),
  );
});

test.each([
  [-1, 0],
  [0, 0],
  [1, 1],
  [3, 1],
])('heightOf(%d) is %d', (peak, height) => {
  expect(heightOf(peak)).toBe(height);
});

test.each([
  [1000, 1000],
  [100_000, 2000],
  [3_600_000, 5000],
])('pointsFor(%i) is %i', (durationMs, points) => {
  expect(pointsFor(durationMs)).toBe(points);
});

test.each([
  ['ArrowRight', false, { kind: 'seek', atMs: 25_000 }],
  ['ArrowLeft', false, { kind: 'seek', atMs: 15_000 }],
  ['ArrowLeft', true, { kind: 'seek', atMs: 19_000 }],
  ['PageDown', false, { kind: 'seek', atMs: 0 }],
  ['PageUp', false, { kind: 'seek', atMs: 30_000 }],
  ['Home', false, { kind: 'seek', atMs: 0 }],
  ['End', false, { kind: 'seek', atMs: 30_000 }],
  [' ', false, { kind: 'toggle' }],
  ['+', true, { kind: 'zoom', factor: 2 }],
  ['Tab', false, undefined],
])('deedOf(%o, shift %o) at 20 of 30 s', (key, shiftKey, deed) => {
  expect(deedOf({ key, shiftKey }, 20_000, 30_000)).toEqual(deed);
});

/** The beginning of the stream, and so many frames of it: the caller counts up, the agent down. */
function streamOf(frames: number): Uint8Array {
  const header = wavHeader({ channels: 2, rateHz: 8000 }, 0);
  const samples = Int16Array.from({ length: frames * 2 }, (_, index) =>
    index % 2 === 0 ? index / 2 : -index,
  );
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

test.each([
  1, 3, 7, 43, 44, 45, 10_000,
])('WavStreamReader reads the same from pieces of %i bytes', (size) => {
  const reader = new WavStreamReader();
  const bytes = streamOf(50);
  const [caller, agent]: [number[], number[]] = [[], []];

  for (let at = 0; at < bytes.length; at += size) {
    const sound = reader.push(bytes.subarray(at, at + size));
    caller.push(...sound.caller);
    agent.push(...sound.agent);
  }

  expect(reader.rateHz).toBe(8000);
  expect(caller).toEqual(Array.from({ length: 50 }, (_, index) => index / 32_768));
  expect(agent).toEqual(Array.from({ length: 50 }, (_, index) => -(index * 2 + 1) / 32_768));
});

test('WavStreamReader refuses what is no stereo sound of 16 bits', () => {
  const mono = wavHeader({ channels: 1, rateHz: 8000 }, 0);

  expect(() => new WavStreamReader().push(mono)).toThrow(RangeError);
  expect(() => new WavStreamReader().push(new Uint8Array(44))).toThrow(RangeError);
});

test('SoundSchedule lays pieces end to end, however unevenly they come', () => {
  const schedule = new SoundSchedule();

  const starts = [0, 0.1, 0.28, 0.29].map((now) => schedule.place(now, 0.1));

  expect(starts.map((start) => start?.toFixed(2))).toEqual(['0.25', '0.35', '0.45', '0.55']);
});

test('SoundSchedule restarts after a gap, and skips a backlog', () => {
  const schedule = new SoundSchedule();
  schedule.place(0, 0.1);

  const late = schedule.place(5, 0.1);
  const many = Array.from({ length: 30 }, () => schedule.place(5, 0.1));

  expect(late).toBe(5.25);
  expect(many.filter((start) => start !== undefined).length).toBeLessThan(15);
  expect(schedule.place(6, 0.1)).toBeDefined();
});

test.each([
  [-90, 0],
  [-60, 0],
  [-30, 0.5],
  [0, 1],
  [Number.NaN, 0],
])('fillOf(%d) is %d', (dbfs, fill) => {
  expect(fillOf(dbfs)).toBe(fill);
});

test('fallen rises at once and falls evenly, no lower than it is', () => {
  expect(fallen(0.2, 0.8, 16)).toBe(0.8);
  expect(fallen(0.8, 0.2, 90)).toBeCloseTo(0.7);
  expect(fallen(0.8, 0.2, 9000)).toBe(0.2);
});

test('levelsOf reads levels, and nothing else', () => {
  const levels = [{ callId: 'call_1', caller: -20, agent: -90 }];

  expect(levelsOf({ event: 'levels', data: JSON.stringify({ levels }) })).toEqual(levels);
  expect(levelsOf({ event: 'said', data: '{}' })).toBeUndefined();
});

test('transferFailureOf gives the reason of a transfer that failed, and nothing else', () => {
  const told = (kind: string) => ({
    event: 'timeline',
    data: JSON.stringify({
      callId: 'call_1',
      entry: { timestamp: '', kind, details: { reason: 'busy' } },
    }),
  });

  expect(transferFailureOf(told('transfer_failed'))).toBe('busy');
  expect(transferFailureOf(told('turn'))).toBeUndefined();
  expect(transferFailureOf({ event: 'said', data: '{}' })).toBeUndefined();
});
