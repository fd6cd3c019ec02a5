/** Whisper as an engine to choose: where its models lie. */
import { modelFolders } from '../../models/model-folders.ts';
import type { SpeechEngine } from '../../models/speech-engine.ts';

/** Finds `whisper*`, `whisper/<name>` and `stt/<name>`, but for what another engine of ours takes. */
export const whisperEngine: SpeechEngine = {
  name: 'whisper',
  moduleUrl: new URL('./whisper-recognizer.ts', import.meta.url).href,
  find: (modelsDir) =>
    modelFolders(modelsDir, ['whisper*', 'whisper/*', 'stt/*'])
      .filter(({ type }) => type !== 'moonshine')
      .map(({ path }) => path),
};
