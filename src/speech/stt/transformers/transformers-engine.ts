/** transformers.js as an engine to choose, for exports that our own code cannot run; only when asked for by name. */
import { modelFolders } from '../../models/model-folders.ts';
import type { SpeechEngine } from '../../models/speech-engine.ts';

export const transformersEngine: SpeechEngine = {
  name: 'transformers',
  moduleUrl: new URL('./transformers-recognizer.ts', import.meta.url).href,
  isOnRequest: true,
  find: (modelsDir) =>
    modelFolders(modelsDir, ['whisper*', 'whisper/*', 'moonshine*', 'stt/*']).map(
      ({ path }) => path,
    ),
};
