/** Silero's layers as products over all calls: the same answers as the file's own graph, or that graph. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sileroSized } from '../../bench/lib/silero-sized.ts';
import {
  openUnchangedDetector,
  openVoiceDetector,
} from '../../src/speech/vad/silero/silero-detector.ts';
import type { Vad } from '../../src/speech/vad/vad.ts';
import { VadTrack } from '../../src/speech/vad/vad-track.ts';
import type { OnnxNode } from '../support/onnx-file.ts';
import { readPhrase, SPOKEN_PHRASES, TINY_VAD_PATH } from './spoken-phrases.ts';

const folder = mkdtempSync(join(tmpdir(), 'silero-products-'));

afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
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
] as const)('openVoiceDetector answers at $what as the graph of the file does', async (given) => {
  const path = written(`${given.rateHz}.onnx`, sileroSized(given.inputLength));
  const [quick, unchanged] = await Promise.all([
    openVoiceDetector(path),
    openUnchangedDetector(path, given.rateHz),
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
] as const)('openVoiceDetector runs a file with $what as it is, and says so', async (given) => {
  const path = written('other.onnx', sileroSized('samples', given.edit));

  const [detector, unchanged] = [await openVoiceDetector(path), await openUnchangedDetector(path)];

  expect(detector.drawback).toContain(`(${given.why})`);
  expect(await heardBy(detector)).toEqual(await heardBy(unchanged));
  await Promise.all([detector.close(), unchanged.close()]);
});

test('openVoiceDetector runs our own tiny model as it is, and says so', async () => {
  const detector = await openVoiceDetector(TINY_VAD_PATH);

  expect(detector.drawback).toBe(
    'its layers are run call by call, which is slower on a full server, because it is not laid out as Silero v5 (it has too few convolutions)',
  );
  await detector.close();
});
