/** The turn detector on our own tiny model, and on files that are none. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  openTurnDetector,
  smartTurnFeatures,
} from '../../src/speech/turn-detection/smart-turn-detector.ts';
import { smartTurnEngine } from '../../src/speech/turn-detection/turn-detector.ts';
import { float32, onnxModel } from '../support/speech/onnx-file.ts';

const TINY = join(import.meta.dirname, '../../models/tiny');
const folder = mkdtempSync(join(tmpdir(), 'turn-'));

afterAll(() => rmSync(folder, { recursive: true }));

function tone(seconds: number): Int16Array {
  return Int16Array.from({ length: seconds * 8000 }, (_, index) => 8000 * Math.sin(index / 3));
}

/** A file whose graph passes its input on, from the mean over all of it. */
function modelFile(name: string, input: string): string {
  const path = join(folder, name);
  const bytes = onnxModel({
    nodes: [{ op: 'Add', inputs: [input, 'seven'], outputs: ['logits'] }],
    inputs: [{ name: input, type: 'float32', dims: [1, 80, 800] }],
    outputs: [{ name: 'logits', type: 'float32', dims: [1, 80, 800] }],
    tensors: [float32('seven', [1], [7])],
  });
  writeFileSync(path, bytes);
  return path;
}

test('openTurnDetector gives a probability for any length of audio', async () => {
  const [path = ''] = smartTurnEngine.find(TINY);
  const detector = await openTurnDetector(path);

  const scores = [];
  for (const seconds of [0, 0.5, 8, 20]) scores.push(await detector.score(tone(seconds)));

  await detector.close();
  expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
  expect(new Set(scores).size).toBeGreaterThan(1);
});

test('smartTurnFeatures hears the newest 8 s alone', () => {
  const long = tone(12);

  const features = smartTurnFeatures(long);

  expect(features).toHaveLength(80 * 800);
  expect(features).toEqual(smartTurnFeatures(long.subarray(4 * 8000)));
});

test('smartTurnFeatures does not depend on how loud the caller is', () => {
  const loud = smartTurnFeatures(tone(3));
  const quiet = smartTurnFeatures(tone(3).map((sample) => Math.round(sample / 2)));

  const furthest = loud.reduce(
    (most, value, index) => Math.max(most, Math.abs(value - (quiet[index] ?? 0))),
    0,
  );
  expect(furthest).toBeLessThan(0.5);
});

test('smartTurnFeatures puts the silence before the words', () => {
  const features = smartTurnFeatures(tone(2));

  const row = 10 * 800;
  const mean = (from: number, to: number) =>
    features.slice(row + from, row + to).reduce((sum, value) => sum + value, 0) / (to - from);
  expect(mean(650, 790)).toBeGreaterThan(mean(10, 550) + 0.3);
});

test('openTurnDetector names a file that is no model', async () => {
  const path = join(folder, 'damaged.onnx');
  writeFileSync(path, 'not a model');

  await expect(openTurnDetector(path)).rejects.toThrow(
    `Cannot load the turn detector "${path}": the file is damaged; put a whole copy there`,
  );
});

test.each([
  ['an input of another name', modelFile('name.onnx', 'audio')],
  ['an output that is no probability', modelFile('range.onnx', 'input_features')],
])('openTurnDetector refuses a model with %s', async (_what, path) => {
  await expect(openTurnDetector(path)).rejects.toThrow('it has not the interface of Smart Turn v3');
});
