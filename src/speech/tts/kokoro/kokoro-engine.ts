/** Kokoro: finds its model and voices in the models folder. */

import { join } from 'node:path';
import { filesIn, voiceFolders } from '../../models/model-files.ts';
import { type VoiceEngineOptions, voiceEngine } from '../neural/voice-engine.ts';
import type { NeuralVoice } from '../neural/voice-model.ts';
import type { SynthesizerEngine } from '../pool/choose-synthesizer.ts';

/**
 * Locales by the first letter of a voice's name. Japanese and Chinese are missing: espeak-ng does not write them down as
 * Kokoro learnt them.
 *
 * @see the model card of hexgrad/Kokoro-82M, VOICES.md
 */
const LOCALES: Readonly<Record<string, { readonly locale: string; readonly reads: string }>> = {
  a: { locale: 'en-US', reads: 'gmw/en-US' },
  b: { locale: 'en-GB', reads: 'gmw/en' },
  e: { locale: 'es-ES', reads: 'roa/es' },
  f: { locale: 'fr-FR', reads: 'roa/fr' },
  h: { locale: 'hi-IN', reads: 'inc/hi' },
  i: { locale: 'it-IT', reads: 'roa/it' },
  p: { locale: 'pt-BR', reads: 'roa/pt-BR' },
};

export function kokoroEngine(options: VoiceEngineOptions): SynthesizerEngine {
  return voiceEngine(options, {
    name: 'kokoro',
    modelModule: new URL('./kokoro-model.ts', import.meta.url).href,
    find: findKokoroVoices,
    remedy: `run "npm run models -- --only kokoro-82m", or put Kokoro-82M into "${options.modelsDir}/tts/kokoro" (docs/voices.md)`,
  });
}

/** A folder with `voices/*.bin` and `onnx/*.onnx` is Kokoro's. */
export function findKokoroVoices(modelsDir: string): readonly NeuralVoice[] {
  return voiceFolders(modelsDir)
    .filter((folder) => filesIn(join(folder, 'onnx'), '.onnx').length > 0)
    .flatMap((folder) =>
      filesIn(join(folder, 'voices'), '.bin').flatMap((file) => voiceOf(folder, file)),
    );
}

function voiceOf(folder: string, file: string): readonly NeuralVoice[] {
  const name = file.slice(0, -'.bin'.length);
  const place = LOCALES[name[0] ?? ''];
  if (place === undefined || !/^[a-z][fm]_/.test(name)) return [];
  const gender = name[1] === 'f' ? 'female' : 'male';
  return [{ name, model: folder, speaker: name, ...place, gender }];
}
