/** The real loading code on a tiny model in the layout of a real one, compared with transformers.js. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, pipeline } from '@huggingface/transformers';
import { expect, onTestFinished, test } from 'vitest';
import { openSentenceModel } from '../../src/llm/embeddings/onnx/sentence-model.ts';
import { makeEmbeddingModel } from './support/tiny-embedding-model.ts';

async function open(folder: string) {
  const model = await openSentenceModel(folder, { threads: 1 });
  onTestFinished(() => model.close());
  return model;
}

const product = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

test.each([
  'wordpiece',
  'unigram',
] as const)('vectorOf gives with a %s tokenizer what transformers.js gives with mean pooling', async (kind) => {
  const { modelsDir, folder } = makeEmbeddingModel('tiny', { kind });
  env.allowRemoteModels = false;
  env.localModelPath = join(modelsDir, 'embedding');
  const reference = await pipeline('feature-extraction', 'tiny', { dtype: 'q8' });
  const model = await open(folder);

  for (const text of ['A visit costs ninety euros.', 'How expensive is it?', 'Zebra? OPEN!', '']) {
    const wanted = await reference(text, { pooling: 'mean', normalize: true });
    const vector = await model.vectorOf(text);

    expect(vector).toHaveLength(5);
    wanted.data.forEach((value, at) => void expect(vector[at]).toBeCloseTo(Number(value), 5));
  }
});

test('vectorOf gives vectors of length 1 whose directions are alike where the meanings are', async () => {
  const { folder } = makeEmbeddingModel('tiny');
  const model = await open(folder);

  const [question, fee, hours] = await Promise.all(
    ['How expensive is it?', 'A visit costs ninety euros.', 'Open from nine.'].map(model.vectorOf),
  );
  if (!question || !fee || !hours) throw new Error('expected three vectors');

  expect(product(fee, fee)).toBeCloseTo(1, 5);
  expect(product(question, fee)).toBeGreaterThan(product(question, hours) + 0.5);
});

test('vectorOf cuts a text that is longer than the model’s positions, and keeps its end token', async () => {
  const { folder } = makeEmbeddingModel('tiny', { positions: 4 });
  const model = await open(folder);

  const cut = await model.vectorOf('cat cat nine nine nine nine');

  expect([...cut]).toEqual([...(await model.vectorOf('cat cat'))]);
});

test.each([
  ['onnx/model_quantized.onnx', null, 'there is no such file'],
  ['onnx/model_quantized.onnx', 'not a graph', 'the file is damaged'],
  ['tokenizer.json', null, 'there is no such file'],
  ['tokenizer.json', '{"half', 'it has another form'],
  ['config.json', '{"max_position_embeddings": "many"}', 'it has another form'],
])('openSentenceModel says of %s (%j): %s', async (file, content, reason) => {
  const { folder } = makeEmbeddingModel('tiny');
  const path = join(folder, file);
  if (content === null) rmSync(path);
  else writeFileSync(path, content);

  const opening = openSentenceModel(folder, { threads: 1 });

  await expect(opening).rejects.toThrow(reason);
  await expect(opening).rejects.toThrow('Cannot load the embedding model');
});
