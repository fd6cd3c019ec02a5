/** The voice detector on a model of Silero's real size, which has both rates under one `If`; its weights mean nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parametersOf, sileroSized } from '../../bench/lib/silero-sized.ts';
import { openVoiceDetector } from '../../src/speech/vad/silero/silero-detector.ts';
import { VadTrack } from '../../src/speech/vad/vad-track.ts';
import { readPhrase, SPOKEN_PHRASES } from './spoken-phrases.ts';

const folder = mkdtempSync(join(tmpdir(), 'silero-'));
const detector = await openSized('both.onnx', sileroSized());

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await detector.close();
});

function openSized(name: string, bytes: Uint8Array) {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return openVoiceDetector(path);
}

/** Scores calls in runs of at most `batch`; a call that is over leaves the batch. */
async function scoresOf(calls: readonly Int16Array[], batch: number): Promise<number[][]> {
  const all: number[][] = [];
  for (let start = 0; start < calls.length; start += batch) {
    const tracks = calls.slice(start, start + batch).map((pcm) => {
      const track = new VadTrack(detector);
      track.push(pcm);
      return { track, scores: [] as number[] };
    });
    all.push(...tracks.map(({ scores }) => scores));
    for (let isMore = true; isMore; ) {
      const ready = tracks.flatMap(({ track, scores }) => {
        const window = track.takeWindow();
        return window === null ? [] : [{ window, scores }];
      });
      const scores = await detector.score(ready.map(({ window }) => window));
      ready.forEach((call, index) => {
        call.scores.push(scores[index] ?? NaN);
      });
      isMore = ready.length > 0;
    }
  }
  return all;
}

test('sileroSized has as many parameters as Silero v5 at 16 kHz', () => {
  expect(parametersOf(16_000)).toBe(309_633);
});

test('openVoiceDetector takes the 8 kHz branch of a model that has both', () => {
  expect(detector.rateHz).toBe(8000);
  expect(detector.windowSamples).toBe(256);
});

test('openVoiceDetector takes the 16 kHz branch of a file that states its window', async () => {
  const wide = await openSized('wide.onnx', sileroSized(576));
  const { rateHz, windowSamples } = wide;
  await wide.close();

  expect({ rateHz, windowSamples }).toEqual({ rateHz: 16_000, windowSamples: 512 });
});

test('openVoiceDetector hears a file of one rate at that rate, whatever lengths it takes', async () => {
  const bytes = sileroSized('samples', (node) => {
    const { then_branch: wide, else_branch: narrow } = node.attributes ?? {};
    return wide && narrow
      ? { ...node, attributes: { then_branch: wide, else_branch: wide } }
      : node;
  });

  const wide = await openSized('one-rate.onnx', bytes);

  expect(wide.rateHz).toBe(16_000);
  await wide.close();
});

test('VadTrack gives the 8 kHz branch the samples of the line as they came', () => {
  const pcm = Int16Array.from({ length: 256 }, (_, index) => index * 100 - 12_800);
  const track = new VadTrack(detector);

  track.push(pcm);
  const window = track.takeWindow();

  expect(window?.pcm).toEqual(Float32Array.from(pcm, (sample) => sample / 32_768));
});

test('SileroDetector scores twenty calls in a run as it scores each alone, while calls leave', async () => {
  const calls = Array.from({ length: 20 }, (_, call) =>
    readPhrase(SPOKEN_PHRASES[call % SPOKEN_PHRASES.length]?.file ?? '').subarray(call * 50),
  );

  const alone = await scoresOf(calls, 1);
  const together = await scoresOf(calls, 20);

  const differences = together.flatMap((scores, call) =>
    scores.map((score, window) => Math.abs(score - (alone[call]?.[window] ?? NaN))),
  );
  expect(together.map(({ length }) => length)).toEqual(alone.map(({ length }) => length));
  expect(Math.max(...differences)).toBeLessThan(1e-5);
  // Weights without meaning, and yet not all the same: otherwise nothing was compared.
  expect(Math.max(...alone.flat()) - Math.min(...alone.flat())).toBeGreaterThan(0.5);
});

test('SileroDetector gives answers that later runs do not change', async () => {
  const window = () => ({ stream: detector.open(), pcm: new Float32Array(256).fill(0.1) });
  const [loud, quiet] = [window(), window()];
  quiet.pcm.fill(0);

  const first = await detector.score([loud]);
  const kept = [...first];
  await detector.score([quiet]);

  expect(first).toEqual(kept);
});

test('SileroDetector keeps runs apart that overlap', async () => {
  const window = (level: number) => ({
    stream: detector.open(),
    pcm: Float32Array.from({ length: 256 }, (_, index) => level * Math.sin(index / 3)),
  });
  const apart = [
    ...(await detector.score([window(0.1)])),
    ...(await detector.score([window(0.9)])),
  ];

  const overlapping = await Promise.all([
    detector.score([window(0.1)]),
    detector.score([window(0.9)]),
  ]);

  expect(overlapping.flat()).toEqual(apart);
  expect(apart[0]).not.toBe(apart[1]);
});

test('SileroDetector hears the end of the window before together with the next one', async () => {
  const tone = Float32Array.from({ length: 256 }, (_, index) => 0.5 * Math.sin(index / 3));
  const quietAtEnd = tone.map((sample, at) => (at < 224 ? sample : 0));
  const [one, other] = [detector.open(), detector.open()];
  const remembers = (stream: object): stream is { readonly state: Float32Array } =>
    'state' in stream && stream.state instanceof Float32Array;

  await detector.score([
    { stream: one, pcm: tone },
    { stream: other, pcm: quietAtEnd },
  ]);
  for (const stream of [one, other]) if (remembers(stream)) stream.state.fill(0);
  const [first, second] = await detector.score([
    { stream: one, pcm: tone },
    { stream: other, pcm: tone },
  ]);

  expect(first).not.toBe(second);
});
