/** Smart Turn as an engine to choose: where its models lie. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { SpeechEngine } from '../models/speech-engine.ts';

/** Finds `turn/<file>.onnx` and `turn/<name>/<file>.onnx`. */
export const smartTurnEngine: SpeechEngine = {
  name: 'smart-turn',
  moduleUrl: new URL('./smart-turn-detector.ts', import.meta.url).href,
  find: (modelsDir) =>
    globSync(['turn/*.onnx', 'turn/*/*.onnx'], { cwd: modelsDir })
      .sort()
      .map((path) => join(modelsDir, path)),
};
