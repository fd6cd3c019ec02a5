/** Piper: finds its voices in the models folder. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn, voiceFolders } from '../../models/model-files.ts';
import { type VoiceEngineOptions, voiceEngine } from '../neural/voice-engine.ts';
import type { NeuralVoice } from '../neural/voice-model.ts';
import type { SynthesizerEngine } from '../pool/choose-synthesizer.ts';

/** Data sets whose speaker's gender is known from their model cards. */
const FEMALE = (
  'amy lessac kathleen kristin hfc_female ljspeech jenny_dioco cori alba kerstin eva_k ' +
  'ramona siwis paola claude'
).split(' ');
const MALE = (
  'ryan joe john norman danny bryce hfc_male alan northern_english_male thorsten karlsson ' +
  'pavoque davefx tom gilles riccardo faber edresson'
).split(' ');

export function piperEngine(options: VoiceEngineOptions): SynthesizerEngine {
  return voiceEngine(options, {
    name: 'piper',
    modelModule: new URL('./piper-model.ts', import.meta.url).href,
    find: findPiperVoices,
    remedy: `run "npm run models", or put a Piper voice into "${options.modelsDir}/tts/piper" (docs/voices.md)`,
  });
}

/** A graph with a `.onnx.json` file is a Piper voice; its file's name is the voice's. */
export function findPiperVoices(modelsDir: string): readonly NeuralVoice[] {
  return voiceFolders(modelsDir).flatMap((folder) =>
    filesIn(folder, '.onnx.json').map((file) =>
      voiceOf(folder, file.slice(0, -'.onnx.json'.length)),
    ),
  );
}

/** Voice of a model file. The model complains of an unreadable configuration when it is opened. */
function voiceOf(folder: string, name: string): NeuralVoice {
  const model = join(folder, `${name}.onnx`);
  const [, language = 'en', region, dataSet = ''] =
    /^([a-z]{2,3})(?:_([A-Z]{2}))?-([^-]+)/.exec(name) ?? [];
  const locale = region === undefined ? language : `${language}-${region}`;
  const gender = FEMALE.includes(dataSet) ? 'female' : MALE.includes(dataSet) ? 'male' : undefined;
  const voice = { name, model, speaker: '', reads: readsOf(`${model}.json`, language), locale };
  return gender === undefined ? voice : { ...voice, gender };
}

function readsOf(path: string, language: string): string {
  try {
    const voice: unknown = JSON.parse(readFileSync(path, 'utf8'))?.espeak?.voice;
    return typeof voice === 'string' && /^[A-Za-z][A-Za-z0-9/-]{0,30}$/.test(voice)
      ? voice
      : language;
  } catch {
    return language;
  }
}
