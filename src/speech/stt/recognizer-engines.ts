/** The speech-to-text engines to choose from: where their models lie. */
import { modelFolders, type SpeechEngine } from '../models/model-files.ts';

/** Finds `whisper*`, `whisper/<name>` and `stt/<name>`, except models of another of our engines. */
export const whisperEngine: SpeechEngine = {
  name: 'whisper',
  moduleUrl: new URL('./whisper/whisper-recognizer.ts', import.meta.url).href,
  find: (modelsDir) =>
    modelFolders(modelsDir, ['whisper*', 'whisper/*', 'stt/*'])
      .filter(({ type }) => type !== 'moonshine')
      .map(({ path }) => path),
};

/** Finds `moonshine*`, `moonshine/<name>` and `stt/<name>` whose configuration names Moonshine. */
export const moonshineEngine: SpeechEngine = {
  name: 'moonshine',
  fetchCommand: 'npm run models -- --only moonshine-base',
  moduleUrl: new URL('./moonshine/moonshine-recognizer.ts', import.meta.url).href,
  find: (modelsDir) =>
    modelFolders(modelsDir, ['moonshine*', 'moonshine/*', 'stt/*'])
      .filter(({ type }) => type === 'moonshine')
      .map(({ path }) => path),
};

/** transformers.js, for exports that our own code cannot run; tried only when an operator asks for it by name. */
export const transformersEngine: SpeechEngine = {
  name: 'transformers',
  moduleUrl: new URL('./transformers/transformers-recognizer.ts', import.meta.url).href,
  isOnRequest: true,
  find: (modelsDir) =>
    modelFolders(modelsDir, ['whisper*', 'whisper/*', 'moonshine*', 'stt/*']).map(
      ({ path }) => path,
    ),
};

/** Modules of recognition servers, by the protocol that `STT` names. */
export const RECOGNITION_MODULES = {
  openai: new URL('./openai/openai-recognition.ts', import.meta.url).href,
  wyoming: new URL('./wyoming/wyoming-recognition.ts', import.meta.url).href,
} as const;
