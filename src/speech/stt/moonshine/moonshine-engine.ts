/** Moonshine as an engine to choose: where its models lie. */
import { modelFolders } from '../../models/model-folders.ts';
import type { SpeechEngine } from '../../models/speech-engine.ts';

/** Finds `moonshine*`, `moonshine/<name>` and `stt/<name>` whose configuration says that it is one. */
export const moonshineEngine: SpeechEngine = {
  name: 'moonshine',
  fetchCommand: 'npm run models -- --only moonshine-base',
  moduleUrl: new URL('./moonshine-recognizer.ts', import.meta.url).href,
  find: (modelsDir) =>
    modelFolders(modelsDir, ['moonshine*', 'moonshine/*', 'stt/*'])
      .filter(({ type }) => type === 'moonshine')
      .map(({ path }) => path),
};
