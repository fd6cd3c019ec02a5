import { expect, test } from 'vitest';
import {
  isSafePath,
  loadManifest,
  modelsOf,
  PROFILES,
  parseManifest,
  placeOf,
} from '../../src/model-store/manifest.ts';
import { testManifest, testModel } from './support/manifests.ts';
import { someBytes } from './support/model-server.ts';

const BASE = 'https://models.example/asr/';

test('the list that comes with Offhook is whole: every file has a length and a checksum', async () => {
  const { manifest } = await loadManifest();

  const files = manifest.models.flatMap((model) => (model.kind === 'llm' ? [] : model.files));

  expect(files.length).toBeGreaterThan(50);
  expect(files.filter(({ bytes, sha256 }) => bytes === null || sha256 === null)).toEqual([]);
});

test('the list that comes with Offhook pins every source to a revision, over https', async () => {
  const { manifest } = await loadManifest();

  const loose = manifest.models.filter(
    (model) =>
      model.kind !== 'llm' &&
      !(model.base.startsWith('https://') && model.base.includes(`/${model.revision}/`)),
  );

  expect(loose).toEqual([]);
});

test('every profile has a detector, one recogniser, a turn model, a voice and a language model', async () => {
  const { manifest } = await loadManifest();

  const kinds = PROFILES.map((profile) =>
    modelsOf(manifest, { profile, only: [] }).map(({ kind }) => kind),
  );

  for (const found of kinds) {
    expect(new Set(found)).toEqual(new Set(['vad', 'stt', 'turn', 'tts', 'llm', 'gguf']));
    expect(found.filter((kind) => kind === 'stt')).toHaveLength(1);
    expect(found.filter((kind) => kind === 'llm')).toHaveLength(1);
    expect(found.filter((kind) => kind === 'gguf')).toHaveLength(1);
  }
});

test('every model lies where the engines look, by its kind', async () => {
  const { manifest } = await loadManifest();

  const places = manifest.models.flatMap((model) =>
    model.kind === 'llm' ? [] : model.files.map((file) => [model.kind, placeOf(model, file)]),
  );

  const folderOf = (kind: string | undefined) => (kind === 'gguf' ? 'llm' : kind);
  expect(places.filter(([kind, place]) => !place?.startsWith(`${folderOf(kind)}/`))).toEqual([]);
});

test('every tensor is of a file that the model has', async () => {
  const { manifest } = await loadManifest();

  const lost = manifest.models.flatMap((model) =>
    model.kind === 'llm'
      ? []
      : model.tensors.filter(({ file }) => !model.files.some(({ path }) => path === file)),
  );

  expect(lost).toEqual([]);
});

test.each([
  ['a path that leads out', { files: [{ path: '../a', bytes: 1, sha256: null }] }],
  ['a folder that leads out', { folder: '/etc' }],
  ['a checksum that is none', { files: [{ path: 'a', bytes: 1, sha256: 'abc' }] }],
  ['an unknown field', { color: 'red' }],
  ['an address that is no folder', { base: 'https://models.example/asr' }],
  ['an address with a query', { base: 'https://models.example/asr/?token=x/' }],
])('parseManifest refuses %s', (_, changes) => {
  const model = { ...testModel(BASE, { a: someBytes(1) }), ...changes };
  const text = JSON.stringify({
    version: 1,
    profiles: { small: [], standard: [], best: [] },
    models: [model],
  });

  expect(() => parseManifest(text, 'here')).toThrow('Cannot read the list of models "here"');
});

test.each([
  { name: 'asr\u001b[2J' },
  { licence: { spdx: 'MIT\r', statedAt: BASE } },
  { licence: { spdx: 'MIT', statedAt: BASE, note: 'a\u0007' } },
])('parseManifest refuses %j, which would move the cursor where it is shown', (changes) => {
  const model = testModel(BASE, { a: someBytes(1) });
  const profiles = { small: [], standard: [], best: [] };
  const text = JSON.stringify({ version: 1, profiles, models: [{ ...model, ...changes }] });

  expect(() => parseManifest(text, 'here')).toThrow('expected text without control characters');
});

test('parseManifest refuses two models with one name, two files in one place, and a profile of nothing', () => {
  const model = testModel(BASE, { a: someBytes(1) });
  const profiles = { small: ['gone'], standard: [], best: [] };
  const text = JSON.stringify({ version: 1, profiles, models: [model, model] });

  const read = () => parseManifest(text, 'here');

  expect(read).toThrow('"asr" is in the list twice');
  expect(read).toThrow('two files would lie at "stt/asr/a"');
  expect(read).toThrow('a profile names "gone"');
});

test('modelsOf names the model that is not in the list', () => {
  const manifest = testManifest([testModel(BASE, { a: someBytes(1) })]);

  const choose = () => modelsOf(manifest, { profile: 'small', only: ['nose'] });

  expect(choose).toThrow('There is no model "nose"');
});

test.each([
  'a',
  'onnx/model.onnx',
  'a.b/c-d_e+f.bin',
  'voices/af heart.bin',
])('isSafePath takes %s', (path) => {
  expect(isSafePath(path)).toBe(true);
});

test.each([
  '',
  '.',
  '..',
  '../a',
  'a/../b',
  'a/..',
  '/a',
  'a//b',
  'a/',
  'a\\b',
  'C:a',
  'a\0b',
  'a\nb',
  '~/a ',
  'a./b',
  'a/. /b',
  'a'.repeat(201),
  'ä',
])('isSafePath refuses %j', (path) => {
  expect(isSafePath(path)).toBe(false);
});
