/** Whisper encoders that are fixed to 30 s: freed by `npm run models`, or known to be slow. */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type TableForm, whisperEncoder } from '../../../bench/lib/whisper-encoder-graph.ts';
import { WHISPER_LEAST, writeWhisper } from '../../../bench/lib/whisper-sized.ts';
import { freeEncoderWindow } from '../../../models/prepare/encoder-window.ts';
import {
  bytesField,
  fieldsOf,
  join,
  ProtobufError,
  varintField,
} from '../../../models/prepare/onnx/protobuf.ts';
import { prepareModels } from '../../../models/prepare/prepare-models.ts';
import { preparedPathOf } from '../../../src/speech/models/model-files.ts';
import {
  type Encoder,
  openEncoder,
  readWhisperConfig,
} from '../../../src/speech/stt/whisper/whisper-model.ts';
import { TINY_WHISPER_DIR } from '../../speech/spoken-phrases.ts';
import { seededChance } from '../../support/speech/onnx-file.ts';

const SHAPE = { positions: 1500, modelSize: WHISPER_LEAST.modelSize };
const modelsDir = mkdtempSync(joinPath(tmpdir(), 'encoder-'));
const folder = joinPath(modelsDir, 'stt/random');
const { config: tinyConfig } = await readWhisperConfig(TINY_WHISPER_DIR);
const config = { ...tinyConfig, ...SHAPE };
const path = joinPath(folder, 'onnx/encoder_model.onnx');
writeWhisper(folder, WHISPER_LEAST);

afterAll(() => rmSync(modelsDir, { recursive: true }));

async function open(model: Uint8Array): Promise<Encoder> {
  writeFileSync(path, model);
  await prepareModels(modelsDir);
  return openEncoder(path, config, 1);
}

/** What an encoder makes of the same noise, `frames` long. */
async function heardBy(model: Uint8Array, frames: number): Promise<readonly number[]> {
  const encoder = await open(model);
  const encoded = await encoder.encode(noise(frames));
  await encoder.close();
  return Array.from(encoded.data as Float32Array);
}

function noise(frames: number) {
  const chance = seededChance(7);
  return { values: Float32Array.from({ length: 80 * frames }, () => chance() * 2 - 1), frames };
}

test.each([
  { table: 'float', frames: 500 },
  { table: 'float', frames: 3000 },
  { table: 'constant', frames: 500 },
  { table: 'gathered', frames: 742 },
] as const)('a prepared encoder hears the same in $frames frames as one that was never fixed ($table)', async ({
  table,
  frames,
}) => {
  const [edited, free] = [
    await heardBy(whisperEncoder(WHISPER_LEAST, { table }), frames),
    await heardBy(whisperEncoder(WHISPER_LEAST, { table: 'free' }), frames),
  ];

  expect(edited.length).toBe((frames / 2) * WHISPER_LEAST.modelSize);
  expect(edited).toEqual(free);
});

test.each([
  { table: 'float', precision: 'int8' },
  { table: 'half', precision: 'float32' },
  { table: 'half', precision: 'int8' },
  { table: 'quantized', precision: 'float32' },
  { table: 'quantized', precision: 'int8' },
] as const)('prepareModels frees a table in $table with weights in $precision', async (options) => {
  const encoder = await open(whisperEncoder(WHISPER_LEAST, options));

  const encoded = await encoder.encode({ values: new Float32Array(80 * 300), frames: 300 });

  expect(encoder.isWindowFixed).toBe(false);
  expect(encoded.dims).toEqual([1, 150, WHISPER_LEAST.modelSize]);
  await encoder.close();
});

test('prepareModels says why an encoder takes 30 s only, which openEncoder uses as it is', async () => {
  rmSync(preparedPathOf(path), { force: true });
  const encoder = await open(whisperEncoder(WHISPER_LEAST, { table: 'baked' }));

  const encoded = await encoder.encode({ values: new Float32Array(80 * 3000), frames: 3000 });

  expect(await prepareModels(modelsDir)).toEqual([
    { kind: 'not-possible', path, reason: 'its shapes are fixed within' },
  ]);
  expect(existsSync(preparedPathOf(path))).toBe(false);
  expect(encoder.isWindowFixed).toBe(true);
  expect(encoded.dims).toEqual([1, 1500, WHISPER_LEAST.modelSize]);
  await encoder.close();
});

test('openEncoder uses a standard export that is not prepared, 30 s at a time', async () => {
  const model = whisperEncoder(WHISPER_LEAST, { table: 'float' });
  const prepared = await heardBy(model, 3000);
  rmSync(preparedPathOf(path));

  const encoder = await openEncoder(path, config, 1);

  expect(encoder.isWindowFixed).toBe(true);
  const encoded = await encoder.encode(noise(3000));
  const differences = Array.from(encoded.data as Float32Array, (value, at) =>
    Math.abs(value - (prepared[at] ?? NaN)),
  );
  expect(Math.max(...differences)).toBeLessThan(1e-4);
  await encoder.close();
});

test('freeEncoderWindow leaves an encoder alone that cuts its table by itself', () => {
  const model = whisperEncoder(WHISPER_LEAST, { table: 'free' });

  expect(freeEncoderWindow(model, SHAPE)).toEqual({ kind: 'as-is' });
});

test('freeEncoderWindow does not edit what is written in too old an opset', () => {
  const model = whisperEncoder(WHISPER_LEAST, { opset: 9 });

  const reason = 'it is written in opset 9, which is too old';
  expect(freeEncoderWindow(model, SHAPE)).toEqual({ kind: 'fixed', reason });
});

test('freeEncoderWindow does not edit a model with external weights', () => {
  const model = withExternalTensor(whisperEncoder(WHISPER_LEAST));

  const reason = 'its weights lie in another file';
  expect(freeEncoderWindow(model, SHAPE)).toEqual({ kind: 'fixed', reason });
});

function withExternalTensor(model: Uint8Array): Uint8Array {
  const external = bytesField(5, join([bytesField(8, 'weight'), varintField(14, 1)]));
  const parts = fieldsOf(model).map((field) =>
    field.number === 7 ? bytesField(7, join([field.content, external])) : field.bytes,
  );
  return join(parts);
}

test('openEncoder refuses a model of another width, and names the file', async () => {
  const wide = whisperEncoder({ ...WHISPER_LEAST, modelSize: 24 }, { table: 'free' });

  await expect(open(wide)).rejects.toThrow(
    `Cannot load the speech model "${path}": it gave 1 x 100 x 24 where 1 x 100 x 16 was expected`,
  );
});

test('openEncoder refuses a fixed model with another number of mel bands', async () => {
  const broad = whisperEncoder({ ...WHISPER_LEAST, melCount: 128 }, { table: 'float' });

  await expect(open(broad)).rejects.toThrow(`Cannot load the speech model "${path}": `);
});

test.each<TableForm>([
  'float',
  'constant',
])('freeEncoderWindow never trips over a damaged file (%s)', (table) => {
  const model = whisperEncoder(WHISPER_LEAST, { table });

  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(model.length - 1), fc.nat(255)), { maxLength: 20 }),
      fc.nat(model.length),
      (changes, length) => {
        const damaged = model.slice(0, length);
        for (const [at, byte] of changes) if (at < length) damaged[at] = byte;

        expect(['edited', 'as-is', 'fixed', 'refused']).toContain(outcomeOf(damaged));
      },
    ),
    { numRuns: 300 },
  );
});

function outcomeOf(model: Uint8Array): string {
  try {
    return freeEncoderWindow(model, SHAPE).kind;
  } catch (error) {
    if (error instanceof ProtobufError) return 'refused';
    throw error;
  }
}
