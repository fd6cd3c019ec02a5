import { expect, test } from 'vitest';
import { EnergyDetector, type VoiceChange } from '../../src/media/dsp/energy-detector.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';

/** One letter a frame of 20 ms: `.` session noise, `v` voice, `n` a noisy street, `s` soft voice, `0` nothing at all. */
function listen(session: string): VoiceChange[] {
  const detector = new EnergyDetector();
  return [...session].flatMap((letter, index) => {
    const change = detector.hear(frame(LEVELS[letter] ?? 0, index), index * 20);
    return change === undefined ? [] : [change];
  });
}

const LEVELS: Readonly<Record<string, number>> = { '.': 30, v: 6000, n: 400, s: 250, '0': 0 };

function frame(peak: number, seed: number): Int16Array {
  return Int16Array.from({ length: 160 }, (_, index) =>
    Math.round(peak * Math.sin((index + seed * 160) * 1.7)),
  );
}

test('EnergyDetector reports voice at its third frame, from the first on', () => {
  const changes = listen(`${'.'.repeat(10)}vvv`);

  expect(changes).toEqual([{ kind: 'voice-started', atMs: 200 }]);
});

test('EnergyDetector reports the end after 60 ms, with the last voiced frame', () => {
  const changes = listen('..........vvvvv...');

  expect(changes[1]).toEqual({ kind: 'voice-stopped', lastVoicedAtMs: 280 });
});

test.each([
  ['clicks of one frame', '..........v.......v...v....v..v.v.v.v.v......'],
  ['clicks of two frames', '..........vv......vv..vv...vv.vv.vv.......'],
  ['an empty session', '0'.repeat(200)],
  ['a quiet session', '.'.repeat(200)],
  ['a noisy street from the first frame on', 'n'.repeat(400)],
])('EnergyDetector hears no voice in %s', (_name, session) => {
  expect(listen(session)).toEqual([]);
});

test('EnergyDetector bridges pauses shorter than 60 ms', () => {
  const changes = listen('..........vvvv..vvvv..vvvv...');

  expect(changes.map(({ kind }) => kind)).toEqual(['voice-started', 'voice-stopped']);
});

test('EnergyDetector hears loud voice from the very first frame', () => {
  expect(listen('vvv')).toEqual([{ kind: 'voice-started', atMs: 0 }]);
});

test('EnergyDetector hears soft voice on a quiet session', () => {
  expect(listen(`${'.'.repeat(10)}sss`)).toHaveLength(1);
});

test('EnergyDetector hears voice over a noisy street', () => {
  const changes = listen(`${'n'.repeat(100)}vvvvvvvv${'n'.repeat(10)}`);

  expect(changes).toEqual([
    { kind: 'voice-started', atMs: 2000 },
    { kind: 'voice-stopped', lastVoicedAtMs: 2140 },
  ]);
});

test('EnergyDetector gets used to a fan that is switched on within 3 s', () => {
  const changes = listen(`${'.'.repeat(50)}${'n'.repeat(400)}`);

  expect(changes.map(({ kind }) => kind)).toEqual(['voice-started', 'voice-stopped']);
  expect(changes[1]).toHaveProperty('lastVoicedAtMs', expect.closeTo(4000, -2));
});

test('EnergyDetector hears a loud voice for as long as it lasts', () => {
  const changes = listen(`${'.'.repeat(10)}${'v'.repeat(1000)}...`);

  expect(changes).toHaveLength(2);
});

test.each([
  ['nothing', new Int16Array(160), -100],
  ['the loudest square', new Int16Array(160).fill(-32_768), 0],
  ['half of it', new Int16Array(160).fill(16_384), -6.02],
  ['no samples', new Int16Array(0), -100],
])('levelDbfs of %s', (_name, pcm, level) => {
  expect(levelDbfs(pcm)).toBeCloseTo(level, 1);
});
