/** A hub on this machine whose profile "standard" has our tiny models: a recogniser, and a language model for Ollama and as a GGUF file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FilesModel, Model } from '../../../src/model-store/manifest.ts';
import { testModel } from './manifests.ts';
import { type ModelServer, startModelServer } from './model-server.ts';

export const TINY_MODELS = join(import.meta.dirname, '../../../models/tiny');

const WHISPER = [
  ...['config.json', 'generation_config.json', 'preprocessor_config.json', 'tokenizer.json'],
  ...['onnx/encoder_model.onnx', 'onnx/decoder_model_merged.onnx'],
];

const OLLAMA = {
  ...{ id: 'ollama-tiny', kind: 'llm', name: 'Tiny (Ollama)', engine: 'ollama', needs: ['Ollama'] },
  ...{ ollama: 'tiny:1b', aboutBytes: 1, languages: ['many'], page: 'https://example.com/tiny' },
  licence: { spdx: 'MIT', statedAt: 'https://example.com/licence' },
} as const;

export interface TinyHub {
  readonly hub: ModelServer;
  /** A model of the files below `folder`, at `base` of the hub. */
  modelFrom(
    folder: string,
    base: string,
    files: readonly string[],
    changes: Partial<FilesModel>,
  ): FilesModel;
  /** Writes the list of models to a file, with others that no profile has. */
  writeList(file: string, others?: readonly Model[]): void;
}

/** Serves until the test is over. */
export async function startTinyHub(): Promise<TinyHub> {
  const hub = await startModelServer();
  const modelFrom: TinyHub['modelFrom'] = (folder, base, files, changes) => {
    const bytes = files.map((file) => [file, readFileSync(join(folder, file))] as const);
    for (const [file, content] of bytes) hub.files.set(`/${base}/${file}`, content);
    return testModel(`${hub.origin}/${base}/`, Object.fromEntries(bytes), changes);
  };
  const tiny = (base: string, files: readonly string[], changes: Partial<FilesModel>) =>
    modelFrom(join(TINY_MODELS, base), base, files, changes);
  const models = [
    tiny('whisper', WHISPER, { folder: 'stt/whisper-tiny' }),
    tiny('llm', ['tiny.gguf'], {
      ...{ id: 'gguf-tiny', kind: 'gguf', name: 'Tiny (GGUF)' },
      ...{ engine: 'llama-cpp', folder: 'llm' },
    }),
    OLLAMA,
  ];
  const profiles = { small: [], standard: models.map(({ id }) => id), best: [] };
  const writeList: TinyHub['writeList'] = (file, others = []) => {
    const list = { version: 1, profiles, models: [...models, ...others] };
    writeFileSync(file, JSON.stringify(list));
  };
  return { hub, modelFrom, writeList };
}
