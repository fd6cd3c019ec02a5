/** Small lists of models for tests. */
import {
  type FilesModel,
  type Manifest,
  type ModelFile,
  parseManifest,
} from '../../../src/model-store/manifest.ts';
import { sha256 } from './model-server.ts';

/** A model of the given files, below `base`. */
export function testModel(
  base: string,
  files: Readonly<Record<string, Buffer>>,
  changes: Partial<FilesModel> = {},
): FilesModel {
  return {
    id: 'asr',
    kind: 'stt',
    name: 'Test ASR',
    engine: 'whisper',
    folder: 'stt/asr',
    licence: { spdx: 'MIT', statedAt: 'https://example.com/licence' },
    page: 'https://example.com/asr',
    revision: 'v1',
    base,
    languages: ['en'],
    sampleRateHz: 16_000,
    needs: [],
    files: Object.entries(files).map(([path, bytes]) => fileOf(path, bytes)),
    tensors: [],
    ...changes,
  };
}

export function fileOf(path: string, bytes: Buffer): ModelFile {
  return { path, bytes: bytes.length, sha256: sha256(bytes) };
}

export function testManifest(models: Manifest['models']): Manifest {
  const ids = models.map(({ id }) => id);
  const manifest = { version: 1, profiles: { small: ids, standard: ids, best: ids }, models };
  return parseManifest(JSON.stringify(manifest), 'a test');
}
