/** Silero VAD as a voice activity detection engine: where its models lie. */
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPrepared, type SpeechEngine } from '../../models/model-files.ts';

/** Folder in which `src/cli/prepare-bundled-models.ts` prepares the models of npm packages, laid out as MODELS_DIR. */
export const BUNDLED_DIR = fileURLToPath(new URL('../../../../models/bundled', import.meta.url));

/** Finds `vad/<file>.onnx` and `vad/<name>/<file>.onnx`. */
export const sileroEngine: SpeechEngine = {
  name: 'silero',
  moduleUrl: new URL('./silero-detector.ts', import.meta.url).href,
  find,
  bundled: () => {
    const prepared = find(BUNDLED_DIR);
    return prepared.length > 0 ? prepared : [bundledSilero()].filter((path) => existsSync(path));
  },
};

function find(modelsDir: string): readonly string[] {
  return globSync(['vad/*.onnx', 'vad/*/*.onnx'], { cwd: modelsDir })
    .filter((path) => !isPrepared(path))
    .sort()
    .map((path) => join(modelsDir, path));
}

/** Silero VAD v5 as the package `@ricky0123/vad-web` carries it: the file of Silero's own release, byte by byte. */
export function bundledSilero(): string {
  const packageUrl = import.meta.resolve('@ricky0123/vad-web');
  return fileURLToPath(new URL('./silero_vad_v5.onnx', packageUrl));
}
