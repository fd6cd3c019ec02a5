import { describe, expect, test } from 'vitest';
import { LossConcealment } from '../../src/media/dsp/loss-concealment.ts';
import { readPhrase, SPOKEN_PHRASES } from '../speech/spoken-phrases.ts';
import { heardOver, lostPackets } from '../support/speech/loss/lossy-line.ts';
import { logSpectralDistanceDb } from '../support/speech/loss/sound-distance.ts';

const FRAME_SAMPLES = 160;

/** All phrases in a row. */
const SPEECH = Int16Array.from(SPOKEN_PHRASES.flatMap(({ file }) => [...readPhrase(file)]));

/** A voice of 125 Hz with four harmonics. */
const VOICE = Int16Array.from({ length: 1600 }, (_, at) =>
  [1, 2, 3, 4].reduce((sum, n) => sum + (4000 / n) * Math.sin((2 * Math.PI * n * at) / 64), 0),
);

function peakOf(pcm: Int16Array): number {
  return pcm.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
}

/** The largest difference between neighbours from one sample up to another. */
function largestStep(pcm: Int16Array, from: number, to: number): number {
  let largest = 0;
  for (let at = Math.max(1, from); at < Math.min(pcm.length, to); at += 1) {
    largest = Math.max(largest, Math.abs((pcm[at] as number) - (pcm[at - 1] as number)));
  }
  return largest;
}

describe.each([
  { lossPercent: 1, burst: 1, seed: 1 },
  { lossPercent: 3, burst: 1, seed: 2 },
  { lossPercent: 5, burst: 1, seed: 3 },
  { lossPercent: 10, burst: 1, seed: 4 },
  { lossPercent: 5, burst: 2, seed: 5 },
  { lossPercent: 10, burst: 3, seed: 6 },
])('LossConcealment of $lossPercent % in bursts of $burst', (pattern) => {
  const lost = lostPackets(SPEECH.length / FRAME_SAMPLES, pattern);
  const concealed = heardOver(SPEECH, lost, 'concealed');
  const silent = heardOver(SPEECH, lost, 'zeros');

  test('is nearer to what was said than zeros', () => {
    const ratio = logSpectralDistanceDb(SPEECH, concealed) / logSpectralDistanceDb(SPEECH, silent);

    expect(ratio).toBeLessThan(0.8);
  });

  test('has no click at an edge', () => {
    expect(edgesOf(lost).length).toBeGreaterThan(5);
    expect(clicksIn(concealed, lost)).toEqual([]);
  });
});

test('zeros in the place of lost packets click', () => {
  const lost = lostPackets(SPEECH.length / FRAME_SAMPLES, { lossPercent: 10, burst: 1, seed: 4 });

  const clicks = clicksIn(heardOver(SPEECH, lost, 'zeros'), lost);

  expect(clicks).not.toEqual([]);
});

/** The first samples of losses, and the first ones after them. */
function edgesOf(lost: readonly boolean[]): readonly number[] {
  return lost.flatMap((isLost, packet) =>
    isLost !== (lost[packet - 1] ?? false) ? [packet * FRAME_SAMPLES] : [],
  );
}

/** Edges with a step larger than those of the speech within 50 ms. */
function clicksIn(pcm: Int16Array, lost: readonly boolean[]): readonly number[] {
  return edgesOf(lost).filter(
    (at) => largestStep(pcm, at - 1, at + 2) > 1.1 * largestStep(SPEECH, at - 400, at + 400) + 30,
  );
}

test('LossConcealment continues a steady voice as if nothing were lost for 10 ms', () => {
  const concealment = new LossConcealment();
  concealment.hear(VOICE.slice(0, 800));

  const concealed = concealment.conceal(80);

  expect(segmentalErrors(concealed.slice(16), VOICE.slice(816, 880))).toBeLessThan(0.02);
});

/** Energy of the difference over that of the sound. */
function segmentalErrors(pcm: Int16Array, expected: Int16Array): number {
  const energy = (of: Int16Array) => of.reduce((sum, sample) => sum + sample ** 2, 0);
  return energy(pcm.map((sample, at) => sample - (expected[at] as number))) / energy(expected);
}

test('LossConcealment fades by 20 % each 10 ms, to silence after 60 ms', () => {
  const concealment = new LossConcealment();
  concealment.hear(VOICE.slice(0, 800));

  const concealed = concealment.conceal(800);

  const peaks = Array.from({ length: 7 }, (_, stage) =>
    peakOf(concealed.subarray(stage * 80, (stage + 1) * 80)),
  );
  const full = peakOf(VOICE);
  for (const [stage, share] of [1, 1, 0.8, 0.6, 0.4, 0.2].entries()) {
    expect(peaks[stage]).toBeLessThanOrEqual(1.02 * share * full);
    expect(peaks[stage]).toBeGreaterThan((share - 0.25) * full);
  }
  expect(peakOf(concealed.subarray(480))).toBe(0);
});

test.each([[80], [240], [480]])('LossConcealment conceals packets of %i samples', (length) => {
  const concealment = new LossConcealment();
  concealment.hear(VOICE.slice(0, 5 * length));

  const [first, second] = [concealment.conceal(length), concealment.conceal(length)];
  const whole = new LossConcealment();
  whole.hear(VOICE.slice(0, 5 * length));

  expect([...first, ...second]).toEqual([...whole.conceal(2 * length)]);
});

test('LossConcealment is silent before the first sound and after it was told to forget', () => {
  const concealment = new LossConcealment();

  const first = concealment.conceal(160);
  concealment.hear(VOICE.slice(0, 160));
  concealment.forget();
  const forgotten = concealment.conceal(160);

  expect([peakOf(first), peakOf(forgotten)]).toEqual([0, 0]);
});

test('LossConcealment leaves sound without losses as it is', () => {
  const concealment = new LossConcealment();
  const pcm = VOICE.slice();

  for (let at = 0; at < pcm.length; at += 160) concealment.hear(pcm.subarray(at, at + 160));

  expect([...pcm]).toEqual([...VOICE]);
});
