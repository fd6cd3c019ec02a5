/** Silero VAD as a voice activity detection engine: where its models lie. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { isPrepared } from '../../models/prepared-file.ts';
import type { SpeechEngine } from '../../models/speech-engine.ts';

/** Finds `vad/<file>.onnx` and `vad/<name>/<file>.onnx`. */
export const sileroEngine: SpeechEngine = {
  name: 'silero',
  moduleUrl: new URL('./silero-detector.ts', import.meta.url).href,
  find: (modelsDir) =>
    globSync(['vad/*.onnx', 'vad/*/*.onnx'], { cwd: modelsDir })
      .filter((path) => !isPrepared(path))
      .sort()
      .map((path) => join(modelsDir, path)),
};
