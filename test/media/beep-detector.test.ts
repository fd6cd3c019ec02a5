/** Beeps of answering machines, and sounds that are none. */
import { expect, test } from 'vitest';
import { BeepDetector } from '../../src/media/dsp/beep-detector.ts';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { keyTone } from '../../src/media/dsp/in-band-dtmf.ts';
import { tone } from '../support/speech/tone.ts';

const silence = (ms: number) => new Int16Array(ms * 8);

/** Through the line, in packets. */
function heardIn(...sounds: readonly Int16Array[]) {
  const pcm = Int16Array.from(sounds.flatMap((sound) => [...sound]));
  const line = decodeG711('PCMU', encodeG711('PCMU', pcm));
  const detector = new BeepDetector();
  const edges = [];
  for (let at = 0; at < line.length; at += 160) {
    edges.push(...detector.hear(line.subarray(at, at + 160)));
  }
  return edges;
}

function mixed(a: Int16Array, b: Int16Array): Int16Array {
  return a.map((sample, index) => sample + (b[index] ?? 0));
}

test.each([
  400, 440, 650, 853, 1000, 1200, 1400, 1777, 2000,
])('a tone of %d Hz is a beep with a beginning and an end', (hertz) => {
  expect(heardIn(silence(333), tone(hertz, 500, 6000), silence(400))).toEqual(['began', 'ended']);
});

test.each([
  ['180 ms', ['began', 'ended'], tone(1000, 180, 6000)],
  ['80 ms', [], tone(1000, 80, 6000)],
  ['a whisper', [], tone(1000, 500, 250)],
  ['a key', [], keyTone('5', 4000)],
  ['300 Hz', [], tone(300, 500, 6000)],
  ['2300 Hz', [], tone(2300, 500, 6000)],
  ['a ringing tone', [], mixed(tone(440, 1000, 4000), tone(480, 1000, 4000))],
  ['a ringing tone of Europe', ['began', 'ruled-out'], tone(425, 1000, 6000)],
  ['a beep as long, as low', ['began', 'ended'], tone(480, 1000, 6000)],
  ['a vowel', [], mixed(tone(400, 500, 5000), tone(800, 500, 3500))],
] as const)('a sound of %s gives the edges %j', (...[, edges, sound]) => {
  expect(heardIn(silence(300), sound, silence(400))).toEqual(edges);
});

test('a tone that is followed by another sound is a note of music', () => {
  const chord = mixed(tone(523, 400, 4000), tone(659, 400, 4000));

  expect(heardIn(tone(659, 300, 6000), silence(100), chord)).toEqual(['began', 'ruled-out']);
});

test('a click of the recorder behind a beep does not hide it', () => {
  const click = tone(300, 20, 6000);

  const edges = heardIn(tone(1000, 400, 6000), silence(120), click, silence(300));

  expect(edges).toEqual(['began', 'ended']);
});

test('of two beeps, the second one ends the greeting', () => {
  const beep = tone(850, 200, 6000);

  const edges = heardIn(silence(300), beep, silence(200), beep, silence(400));

  expect(edges).toEqual(['began', 'ruled-out', 'began', 'ended']);
});

test('a lost packet does not cut a beep in two', () => {
  const beep = tone(1000, 600, 6000);
  beep.fill(0, 1600, 1760);

  expect(heardIn(silence(300), beep, silence(400))).toEqual(['began', 'ended']);
});

test('a beep in noise 15 dB below is found, and noise alone is none', () => {
  let seed = 7;
  const noise = Int16Array.from({ length: 8000 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return (seed / 2 ** 31 - 0.5) * 2600;
  });

  expect(heardIn(mixed(noise, tone(1000, 800, 6000)))).toContain('began');
  expect(heardIn(noise)).toEqual([]);
});

test('a glide through the band is no beep', () => {
  let turn = 0;
  const glide = Int16Array.from({ length: 8000 }, (_, at) => {
    turn += (2 * Math.PI * (500 + at / 8)) / 8000;
    return 6000 * Math.sin(turn);
  });

  expect(heardIn(glide)).toEqual([]);
});
