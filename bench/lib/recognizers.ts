/** Recognisers without a call around them: ours and transformers.js, on the tiny Whisper. */
import { fileURLToPath } from 'node:url';
import { env, pipeline } from '@huggingface/transformers';
import { Upsampler } from '../../src/speech/stt/features/resampler.ts';
import { openRecognizer } from '../../src/speech/stt/whisper/whisper-recognizer.ts';
import { TINY_WHISPER_DIR } from '../../test/speech/spoken-phrases.ts';

export interface BenchRecognizer {
  /** @param pcm 8 kHz, mono. */
  hear(pcm: Int16Array, language: string): Promise<string>;
  close(): Promise<void>;
}

export async function openOurRecognizer(): Promise<BenchRecognizer> {
  const recognizer = await openRecognizer(TINY_WHISPER_DIR);
  return {
    hear: async (pcm, language) => {
      const utterance = recognizer.open({ language });
      utterance.push(pcm);
      const { signal } = new AbortController();
      return (await utterance.transcribe({ isFinal: true, signal })).text;
    },
    close: () => recognizer.close(),
  };
}

export async function openTransformersRecognizer(): Promise<BenchRecognizer> {
  env.allowRemoteModels = false;
  env.localModelPath = fileURLToPath(new URL('../../models/tiny/', import.meta.url));
  const recognize = await pipeline('automatic-speech-recognition', 'whisper', {
    dtype: 'fp32',
    device: 'cpu',
  });
  return {
    hear: async (pcm, language) => {
      const audio = new Upsampler().push(pcm);
      const output = await recognize(audio, { language, task: 'transcribe' });
      return (Array.isArray(output) ? output[0]?.text : output.text) ?? '';
    },
    close: async () => {
      await recognize.dispose();
    },
  };
}
