/** Whisper as an engine to choose: where its models lie. */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SpeechEngine } from '../speech-engine.ts';

/** Finds folders with a `config.json`: `whisper*`, `whisper/<name>` and `stt/<name>`. */
export const whisperEngine: SpeechEngine = {
  name: 'whisper',
  moduleUrl: new URL('./whisper-recognizer.ts', import.meta.url).href,
  find: (modelsDir) =>
    globSync(['whisper*/config.json', 'whisper/*/config.json', 'stt/*/config.json'], {
      cwd: modelsDir,
    })
      .sort()
      .map((path) => join(modelsDir, dirname(path))),
};
