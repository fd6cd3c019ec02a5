/** Prepared Silero VAD: layers as products over all calls give the export's own answers; other layouts stay as they are. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sileroSized } from '../../../bench/lib/silero-sized.ts';
import { prepareModels } from '../../../models/prepare/prepare-models.ts';
import { preparedPathOf } from '../../../src/speech/models/model-files.ts';
import { openSilero, openVoiceDetector } from '../../../src/speech/vad/silero/silero-detector.ts';
import { type Vad, VadTrack } from '../../../src/speech/vad/vad-track.ts';
import { readPhrase, SPOKEN_PHRASES, TINY_VAD_PATH } from '../../speech/spoken-phrases.ts';
import type { OnnxNode } from '../../support/speech/onnx-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'silero-products-'));

afterAll(() => rmSync(folder, { recursive: true }));

const NOT_PREPARED =
  'it is not prepared, so that it computes call by call, which is slower on a full server: "npm run models" prepares files laid out as Silero v5';

/** A models folder with one voice activity detector. */
function written(name: string, bytes: Uint8Array) {
  const modelsDir = join(folder, name);
  const path = join(modelsDir, 'vad/silero_vad.onnx');
  mkdirSync(join(modelsDir, 'vad'), { recursive: true });
  writeFileSync(path, bytes);
  return { modelsDir, path };
}

/** Scores of all phrases in one run a tick, and the events they make, call by call. */
async function heardBy(detector: Vad) {
  const calls = SPOKEN_PHRASES.map(({ file }) => {
    const track = new VadTrack(detector);
    track.push(readPhrase(file));
    return { track, scores: [] as number[], events: [] as string[] };
  });
  for (;;) {
    const ready = calls.flatMap((call) => {
      const window = call.track.takeWindow();
      return window === null ? [] : [{ window, ...call }];
    });
    if (ready.length === 0) break;
    const scores = await detector.score(ready.map(({ window }) => window));
    ready.forEach((call, index) => {
      const score = scores[index] ?? NaN;
      call.scores.push(score);
      call.events.push(JSON.stringify(call.track.score(score, { position: 0, atMs: 0 })));
    });
  }
  return {
    scores: calls.flatMap(({ scores }) => scores),
    events: calls.flatMap(({ events }) => events),
  };
}

test.each([
  { what: '8 kHz', inputLength: 'samples', rateHz: 8000 },
  { what: '16 kHz', inputLength: 576, rateHz: 16_000 },
] as const)('openVoiceDetector answers from a prepared file at $what as the export does', async (given) => {
  const { modelsDir, path } = written(`${given.rateHz}`, sileroSized(given.inputLength));
  const [preparation] = await prepareModels(modelsDir);
  expect(preparation).toEqual({ kind: 'prepared', path, isNew: true });
  const [quick, unchanged] = await Promise.all([
    openVoiceDetector(path),
    openSilero(path, given.rateHz),
  ]);

  const [heard, expected] = [await heardBy(quick), await heardBy(unchanged)];

  const differences = heard.scores.map((score, at) => Math.abs(score - (expected.scores[at] ?? 9)));
  expect(quick.drawback).toBeUndefined();
  expect(quick.rateHz).toBe(given.rateHz);
  expect(heard.scores.length).toBeGreaterThan(900);
  expect(Math.max(...differences)).toBeGreaterThan(0);
  expect(Math.max(...differences)).toBeLessThan(1e-5);
  expect(heard.events).toEqual(expected.events);
  await Promise.all([quick.close(), unchanged.close()]);
});

/** Another node in the place of each of one kind. */
function instead(op: string, edit: (node: OnnxNode) => OnnxNode) {
  return (node: OnnxNode) => (node.op === op ? edit(node) : node);
}

test.each([
  {
    what: 'convolutions with gaps',
    edit: instead('Conv', (node) =>
      node.outputs[0]?.endsWith('conv1')
        ? { ...node, attributes: { ...node.attributes, dilations: [2], pads: [2, 2] } }
        : node,
    ),
    why: 'a convolution is of another kind',
  },
  {
    what: 'a spectrum in other steps',
    edit: instead('Pad', (node) => ({ ...node, attributes: { mode: 'constant' } })),
    why: 'it answers otherwise than its layers say',
  },
  {
    what: 'something else between its layers',
    edit: instead('Relu', (node) => ({ ...node, op: 'Elu' })),
    why: 'it answers otherwise than its layers say',
  },
  {
    what: 'weights put together otherwise',
    edit: instead('Concat', (node) =>
      node.outputs[0]?.endsWith('b_iofc') ? { ...node, attributes: { axis: -1 } } : node,
    ),
    why: 'its recurrent layer is of another kind',
  },
] as const)('prepareModels leaves a file with $what alone, and says why', async (given) => {
  const { modelsDir, path } = written(given.what, sileroSized('samples', given.edit));

  const preparations = await prepareModels(modelsDir);

  expect(preparations).toEqual([{ kind: 'not-possible', path, reason: given.why }]);
  expect(existsSync(preparedPathOf(path))).toBe(false);
  const [detector, unchanged] = [await openVoiceDetector(path), await openSilero(path)];
  expect(detector.drawback).toBe(NOT_PREPARED);
  expect(await heardBy(detector)).toEqual(await heardBy(unchanged));
  await Promise.all([detector.close(), unchanged.close()]);
});

test('openVoiceDetector ignores a file that was prepared from another export', async () => {
  const { modelsDir, path } = written('replaced', sileroSized());
  await prepareModels(modelsDir);
  writeFileSync(path, sileroSized(576));

  const stale = await openVoiceDetector(path);
  const again = await prepareModels(modelsDir);
  const fresh = await openVoiceDetector(path);
  const unchanged = await prepareModels(modelsDir);

  expect([stale.drawback, stale.rateHz]).toEqual([NOT_PREPARED, 16_000]);
  expect(again).toEqual([{ kind: 'prepared', path, isNew: true }]);
  expect([fresh.drawback, fresh.rateHz]).toEqual([undefined, 16_000]);
  expect(unchanged).toEqual([{ kind: 'prepared', path, isNew: false }]);
  await Promise.all([stale.close(), fresh.close()]);
});

test('openVoiceDetector runs our own tiny model as it is', async () => {
  const detector = await openVoiceDetector(TINY_VAD_PATH);

  expect(detector.rateHz).toBe(16_000);
  await detector.close();
});
